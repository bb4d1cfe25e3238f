import { z } from 'zod';
import { Secret } from '../../../constructs/api/resources.ts';
import { Collection } from '../../kube/cache-budget.ts';
import type { KubeClient } from '../../kube/client.ts';
import { valueOf } from '../../pki/secret.ts';
import { messageOf } from '../../kube/error-message.ts';
import { findTask } from '../../engine/tasks/task.ts';
import type { KeyRotationContext } from './rotated-keys.ts';

/** A token in a Secret, which never expires. The token itself is not stored. */
interface StoredToken {
  /** `namespace/name` of its Secret. */
  readonly secret: string;
  /** ID of the key that has signed it; undefined if the token does not contain one. */
  readonly key: string | undefined;
}

/** Tokens that never expire and that retired keys have signed. */
type KeptTokens =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'some' | 'unknown';
      /** The problem, and what to do. */
      readonly message: string;
      readonly requeueAt: Date | undefined;
    };

const work = 'tokens in Secrets';
/** Users have to correct it. */
const recheckMs = 3600_000;
const retryMs = 60_000;
/** An older result says nothing about tokens that were created since. */
const validMs = 60_000;

const maxNames = 3;

/** Checks in the background whether Secrets contain tokens that one of these keys has signed. */
export function findKeptTokens(scope: KeyRotationContext, keys: readonly string[]): KeptTokens {
  const { now } = scope;
  const inputsKey = keys.join(' ');
  const task = findTask<readonly StoredToken[]>(scope.work, now, {
    name: work,
    inputsKey,
    retryMs,
    holdsMs: (tokens) => (signedBy(keys, tokens).length > 0 ? recheckMs : validMs),
  });
  const { state } = task;
  const found = state.kind === 'done' ? signedBy(keys, state.result) : undefined;
  if (found?.length === 0 && !task.isDue) return { kind: 'none' };
  if (task.isDue) {
    const hosted = scope.hosted(scope.facts);
    task.start(() => hosted.asAdministrator(storedTokens));
  }
  if (found && found.length > 0) {
    return { kind: 'some', message: describe(found), requeueAt: new Date(now.getTime() + recheckMs) };
  }
  const message =
    state.kind === 'failed'
      ? `the operator cannot check whether Secrets contain tokens of the old key, and tries again: ${messageOf(state.error)}`
      : 'the operator checks whether Secrets contain tokens of the old key';
  return { kind: 'unknown', message, requeueAt: new Date(now.getTime() + retryMs) };
}

/** A token with an unknown key may have been signed by any key. */
function signedBy(keys: readonly string[], tokens: readonly StoredToken[]): StoredToken[] {
  return tokens.filter(({ key }) => key === undefined || keys.includes(key));
}

function describe(tokens: readonly StoredToken[]): string {
  const names = tokens.map(({ secret }) => secret).sort();
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : '';
  const what = names.length === 1 ? '1 Secret contains a token' : `${names.length} Secrets contain tokens`;
  return `${what} of the old key, which never expire: remove the field token from the data of ${names.slice(0, maxNames).join(', ')}${more}, so that Kubernetes creates new tokens, or delete these Secrets and use TokenRequests`;
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

const Header = z.object({ kid: z.string() });

/** ID of the key that has signed a token, from its header; undefined if it contains none. */
export function keyOf(token: string): string | undefined {
  try {
    const [header = ''] = token.split('.');
    return Header.safeParse(JSON.parse(Buffer.from(header, 'base64url').toString('utf8'))).data?.kid;
  } catch {
    return undefined;
  }
}
