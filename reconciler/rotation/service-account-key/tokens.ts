import { z } from 'zod';
import { Secret } from '../../../constructs/api/resources.ts';
import type { KubeClient } from '../../kube/client.ts';
import { valueOf } from '../../pki/secret.ts';
import { firstServiceAccount } from '../../hosted/informers.ts';

/** A token in a Secret, which never expires. Of the token itself nothing is kept. */
export interface StoredToken {
  /** `namespace/name` of its Secret. */
  readonly secret: string;
  /** Id of the key that has signed it; undefined for what does not say. */
  readonly key: string | undefined;
}

const KeySet = z.object({ keys: z.array(z.object({ kid: z.string() })) });
const Header = z.object({ kid: z.string() });

/** Nobody accepts a token for it. */
const audience = 'hosted-control-plane-key-proof';

/**
 * Ids of the keys with which an API server verifies tokens, as it publishes them.
 * @throws when it does not answer, or with something else
 */
export async function verifyingKeys(client: Pick<KubeClient, 'raw'>): Promise<string[]> {
  const answer = await client.raw('/openid/v1/jwks');
  try {
    return KeySet.parse(JSON.parse(answer)).keys.map(({ kid }) => kid);
  } catch (error) {
    throw new Error('the keys of tokens that an API server publishes cannot be read', { cause: error });
  }
}

/**
 * Id of the key with which an API server signs tokens, from one that it is asked for: that a pod was made with a key says
 * only what its kubelet knew. The token is for nobody, and dropped.
 * @throws when it does not answer
 */
export async function signingKey(client: Pick<KubeClient, 'serviceAccountToken'>): Promise<string | undefined> {
  return keyOf(await client.serviceAccountToken(firstServiceAccount, audience));
}

/** Every token that is kept in a Secret, whoever uses it. */
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

/** Id of the key that has signed a token, by its header; undefined where that names none. */
export function keyOf(token: string): string | undefined {
  try {
    const [header = ''] = token.split('.');
    return Header.safeParse(JSON.parse(Buffer.from(header, 'base64url').toString('utf8'))).data?.kid;
  } catch {
    return undefined;
  }
}
