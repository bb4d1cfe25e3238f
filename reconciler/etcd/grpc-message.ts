import { messageOf } from '../kube/error-message.ts';

/** The cause of a failed call to etcd, without details that change from call to call, because conditions repeat it. */
export function grpcMessage(error: unknown): string {
  const message = messageOf(error).replace(/^\d+ [A-Z_]+: /, '');
  if (message.startsWith('Deadline exceeded')) return 'no answer in time';
  const [, cause] = /Last error: (?:Error: )?(.+?)\.? Resolution note:/.exec(message) ?? [];
  return cause ?? message;
}
