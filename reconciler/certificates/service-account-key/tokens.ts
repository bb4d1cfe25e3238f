import { z } from 'zod';
import { Secret } from '../../../constructs/api/resources.ts';
import { Collection } from '../../kube/cache-budget.ts';
import type { KubeClient } from '../../kube/client.ts';
import { valueOf } from '../../pki/secret.ts';
import { firstServiceAccount } from '../../clusters/hosted/informers.ts';

/** A token in a Secret, which never expires. The token itself is not stored. */
export interface StoredToken {
  /** `namespace/name` of its Secret. */
  readonly secret: string;
  /** ID of the key that has signed it; undefined if the token does not contain one. */
  readonly key: string | undefined;
}

const KeySet = z.object({ keys: z.array(z.object({ kid: z.string() })) });
const Header = z.object({ kid: z.string() });

/** A set of keys has a few, each with 400 bytes. */
const longestKeySet = 64 * 1024;

/** No server accepts a token for this audience. */
const audience = 'hosted-control-plane-key-proof';

/**
 * IDs of the keys with which an API server verifies tokens, as it publishes them.
 * @throws if it does not answer, or returns something else
 */
export async function verifyingKeys(client: Pick<KubeClient, 'raw'>): Promise<string[]> {
  const answer = await client.raw('/openid/v1/jwks', { longestBytes: longestKeySet });
  try {
    return KeySet.parse(JSON.parse(answer)).keys.map(({ kid }) => kid);
  } catch (error) {
    throw new Error('cannot read the token keys that an API server publishes', { cause: error });
  }
}

/**
 * ID of the key with which an API server signs tokens, from a token that is requested for this check. The creation of a
 * pod with a key only shows what its kubelet knew. The token has no valid audience, and is dropped.
 * @throws if it does not answer
 */
export async function signingKey(client: Pick<KubeClient, 'serviceAccountToken'>): Promise<string | undefined> {
  return keyOf(await client.serviceAccountToken(firstServiceAccount, audience));
}

/** All tokens in Secrets. */
export async function storedTokens(client: Pick<KubeClient, 'pages'>): Promise<StoredToken[]> {
  const found = new Collection<StoredToken>();
  const fieldSelector = 'type=kubernetes.io/service-account-token';
  for await (const page of client.pages(Secret, { fieldSelector })) {
    for (const object of page) {
      const token = valueOf(object, 'token');
      const { namespace = '', name } = object.metadata;
      if (token) found.add({ secret: `${namespace}/${name}`, key: keyOf(token) });
    }
  }
  return found.items;
}

/** ID of the key that has signed a token, from its header; undefined if it contains none. */
export function keyOf(token: string): string | undefined {
  try {
    const [header = ''] = token.split('.');
    return Header.safeParse(JSON.parse(Buffer.from(header, 'base64url').toString('utf8'))).data?.kid;
  } catch {
    return undefined;
  }
}
