import { messageOf } from '../kube/error-message.ts';

/** The cause of a failed call to etcd, without details that change from call to call, because conditions repeat it. */
export function grpcMessage(error: unknown): string {
  const message = messageOf(error)
    .slice(0, longestMessage)
    .replace(/^\d{1,3} [A-Z_]{1,40}: /, '');
  if (message.startsWith('Deadline exceeded')) return 'no answer in time';
  if (message.startsWith('Received message larger than max')) return 'the answer is longer than any of etcd';
  return lastError(message) ?? message;
}

/** What is between `Last error: ` and the full stop before ` Resolution note:`. */
function lastError(message: string): string | undefined {
  const from = message.indexOf(before) + before.length;
  const to = message.indexOf(' Resolution note:', from);
  if (from < before.length || to <= from) return undefined;
  const cause = message.slice(from, to);
  const text = cause.startsWith('Error: ') ? cause.slice('Error: '.length) : cause;
  return text.endsWith('.') ? text.slice(0, -1) : text;
}

const before = 'Last error: ';
/** A member's image may be a user's own, and say anything. */
const longestMessage = 4096;
