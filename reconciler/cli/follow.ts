import { HostedControlPlane } from '../../constructs/api/resources.ts';
import { isGone, KubeError } from '../kube/errors.ts';
import type { KubeObject } from '../kube/object.ts';
import { spanText } from './format.ts';
import type { Session } from './command.ts';
import { type ControlPlane, readControlPlane } from './control-plane.ts';

/** The progress of an operation that a user waits for. */
export type Progress =
  | { readonly kind: 'running'; readonly message: string }
  /** The operation is complete; the message is its result. */
  | { readonly kind: 'done'; readonly message: string }
  /** The operation has failed; the message has the cause. */
  | { readonly kind: 'failed'; readonly message: string };

/**
 * Watches a control plane until a requested operation ends, and prints each step with the elapsed time.
 * @param look reads the progress from the control plane; called for every change of it
 * @returns the message of the end
 * @throws when the operation failed, or when the control plane was deleted
 */
export async function follow(
  session: Session,
  { cluster, object }: ControlPlane,
  look: (controlPlane: ControlPlane) => Progress,
): Promise<string> {
  const begin = session.now();
  let last: string | undefined;
  for await (const changed of changesOf(session, object.metadata.name)) {
    if (!changed) throw new Error(`the control plane of ${cluster} was deleted`);
    const progress = look(readControlPlane(changed));
    if (progress.kind === 'done') return progress.message;
    if (progress.kind === 'failed') throw new Error(progress.message);
    if (progress.message !== last) session.terminal.info(`${spanText(session.now() - begin)}  ${progress.message}`);
    last = progress.message;
  }
  throw new Error('the watch ended without a reason');
}

/**
 * The current HostedControlPlane, and its state after each change; undefined when it is deleted. Otherwise it never ends.
 */
export async function* changesOf<T extends KubeObject>(
  { client, namespace }: Session,
  name: string,
): AsyncGenerator<T | undefined> {
  const fieldSelector = `metadata.name=${name}`;
  for (;;) {
    const { items, resourceVersion } = await client.list<T>(HostedControlPlane, { namespace, fieldSelector });
    yield items[0];
    try {
      for await (const event of client.watch<T>(HostedControlPlane, { namespace, fieldSelector, resourceVersion })) {
        if (event.type === 'DELETED') yield undefined;
        else if (event.type !== 'BOOKMARK') yield event.object;
      }
    } catch (error) {
      // The server restarts, or has compacted the version. The next list shows whether it is available.
      if (!(error instanceof KubeError) || (error.code !== 0 && !isGone(error))) throw error;
    }
  }
}
