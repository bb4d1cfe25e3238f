import { z } from 'zod';
import { Secret } from '../../../constructs/api/resources.ts';
import type { KubeClient } from '../../kube/client.ts';
import { valueOf } from '../../pki/secret.ts';
import { firstServiceAccount } from '../../hosted/informers.ts';

/** A token in a Secret, which never expires. The token itself is not kept. */
export interface StoredToken {
  /** `namespace/name` of its Secret. */
  readonly secret: string;
  /** ID of the key that has signed it; undefined when the token names none. */
  readonly key: string | undefined;
}

const KeySet = z.object({ keys: z.array(z.object({ kid: z.string() })) });
const Header = z.object({ kid: z.string() });

/** An audience that no server accepts. */
const audience = 'hosted-control-plane-key-proof';

/**
 * IDs of the keys with which an API server verifies tokens, as it publishes them.
 * @throws when it does not answer, or with an invalid document
 */
export async function verifyingKeys(client: Pick<KubeClient, 'raw'>): Promise<string[]> {
  const answer = await client.raw('/openid/v1/jwks');
  try {
    return KeySet.parse(JSON.parse(answer)).keys.map(({ kid }) => kid);
  } catch (error) {
    throw new Error('cannot read the service account keys that an API server publishes', { cause: error });
  }
}

/**
 * ID of the key with which an API server signs tokens, from a token that the operator requests. The key in the pod's
 * volume shows only what its kubelet has mounted. The token has no valid audience and is discarded.
 * @throws when it does not answer
 */
export async function signingKey(client: Pick<KubeClient, 'serviceAccountToken'>): Promise<string | undefined> {
  return keyOf(await client.serviceAccountToken(firstServiceAccount, audience));
}

/** Every token that is stored in a Secret, including those of users. */
export async function storedTokens(client: Pick<KubeClient, 'pages'>): Promise<StoredToken[]> {
  const found: StoredToken[] = [];
  const fieldSelector = 'type=kubernetes.io/service-account-token';
  for await (const page of client.pages(Secret, { fieldSelector })) {
    for (const object of page) {
      const token = valueOf(object, 'token');
      const { namespace = '', name } = object.metadata;
      if (token) found.push({ secret: `${namespace}/${name}`, key: keyOf(token) });
    }
  }
  return found;
}

/** ID of the key that has signed a token, from its header; undefined when the header contains none. */
export function keyOf(token: string): string | undefined {
  try {
    const [header = ''] = token.split('.');
    return Header.safeParse(JSON.parse(Buffer.from(header, 'base64url').toString('utf8'))).data?.kid;
  } catch {
    return undefined;
  }
}
