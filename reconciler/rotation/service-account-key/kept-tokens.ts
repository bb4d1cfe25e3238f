import { type StoredToken, storedTokens } from './tokens.ts';
import { messageOf } from '../../kube/error-message.ts';
import { findTask } from '../../tasks/task.ts';
import type { KeyRotationContext } from './context.ts';

/** Tokens that never expire, and that retired keys have signed. */
export type KeptTokens =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'some' | 'unknown';
      /** What stands in the way, and what to do. */
      readonly message: string;
      readonly requeueAt: Date | undefined;
    };

const work = 'tokens in Secrets';
/** People have to mend it. */
const recheckMs = 3600_000;
const retryMs = 60_000;
/** A look that is older than that tells nothing of a token that was made since. */
const validMs = 60_000;

const named = 3;

/** Looks, beside the queue, whether there are tokens in Secrets that one of these keys has signed. */
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
    return { kind: 'some', message: inTheWay(found), requeueAt: new Date(now.getTime() + recheckMs) };
  }
  const message =
    state.kind === 'failed'
      ? `whether tokens of the old key are kept in Secrets could not be seen, which is tried again: ${messageOf(state.error)}`
      : 'whether tokens of the old key are kept in Secrets is looked up';
  return { kind: 'unknown', message, requeueAt: new Date(now.getTime() + retryMs) };
}

/** One whose key is unknown may have been signed by any. */
function signedBy(keys: readonly string[], tokens: readonly StoredToken[]): StoredToken[] {
  return tokens.filter(({ key }) => key === undefined || keys.includes(key));
}

function inTheWay(tokens: readonly StoredToken[]): string {
  const names = tokens.map(({ secret }) => secret).sort();
  const more = names.length > named ? ` and ${names.length - named} more` : '';
  const what = names.length === 1 ? '1 Secret keeps a token' : `${names.length} Secrets keep tokens`;
  return `${what} of the old key, which never expire: remove the field token from the data of ${names.slice(0, named).join(', ')}${more}, which has it made anew, or delete them and use TokenRequests`;
}
