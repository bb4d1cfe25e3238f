import { messageOf } from '../kube/error-message.ts';

/** What a call to etcd failed by, without what changes from call to call: it is told in conditions, again and again. */
export function grpcMessage(error: unknown): string {
  const message = messageOf(error).replace(/^\d+ [A-Z_]+: /, '');
  if (message.startsWith('Deadline exceeded')) return 'no answer in time';
  const [, cause] = /Last error: (?:Error: )?(.+?)\.? Resolution note:/.exec(message) ?? [];
  return cause ?? message;
}
