import { HostedControlPlane } from '../../constructs/api/resources.ts';
import { isGone, KubeError } from '../kube/errors.ts';
import { spanText } from './amounts.ts';
import type { Session } from './command.ts';
import { type ControlPlane, readControlPlane } from './control-plane.ts';

/** How far something is that a person waits for. */
export type Progress =
  | { readonly kind: 'running'; readonly message: string }
  /** It is over, and this is its result. */
  | { readonly kind: 'done'; readonly message: string }
  /** It will not happen; the message says why. */
  | { readonly kind: 'failed'; readonly message: string };

/**
 * Follows a control plane until something asked of it is over, and tells each step with the time since the beginning.
 * @param look reads the progress from the control plane; called for every change of it
 * @returns the message of its end
 * @throws when it failed, or the control plane was deleted meanwhile
 */
export async function follow(
  session: Session,
  { cluster, object }: ControlPlane,
  look: (controlPlane: ControlPlane) => Progress,
): Promise<string> {
  const begin = session.now();
  let last: string | undefined;
  for await (const controlPlane of versions(session, object.metadata.name)) {
    if (!controlPlane) throw new Error(`the control plane of ${cluster} was deleted meanwhile`);
    const progress = look(controlPlane);
    if (progress.kind === 'done') return progress.message;
    if (progress.kind === 'failed') throw new Error(progress.message);
    if (progress.message !== last) session.terminal.tell(`${spanText(session.now() - begin)}  ${progress.message}`);
    last = progress.message;
  }
  throw new Error('the watch ended without a reason');
}

/** The control plane as it is, and after each of its changes; undefined when it is gone. Never ends otherwise. */
async function* versions({ client, namespace }: Session, name: string): AsyncGenerator<ControlPlane | undefined> {
  const fieldSelector = `metadata.name=${name}`;
  for (;;) {
    const { items, resourceVersion } = await client.list(HostedControlPlane, { namespace, fieldSelector });
    yield items[0] && readControlPlane(items[0]);
    try {
      for await (const event of client.watch(HostedControlPlane, { namespace, fieldSelector, resourceVersion })) {
        if (event.type === 'DELETED') yield undefined;
        else if (event.type !== 'BOOKMARK') yield readControlPlane(event.object);
      }
    } catch (error) {
      // A server that restarts, or forgot the version: the next list says whether it can go on.
      if (!(error instanceof KubeError) || (error.code !== 0 && !isGone(error))) throw error;
    }
  }
}
