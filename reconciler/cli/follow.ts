import type { KubeObject } from '../kube/object.ts';
import { nextCommand, spanText } from './format.ts';
import { selectedControlPlanes } from './changes.ts';
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
 * Watches a control plane until a requested operation ends, and prints each step with the elapsed time. It says to a user who
 * interrupts it that the operation continues.
 * @param look reads the progress from the control plane; called for every change of it
 * @returns the message of the end
 * @throws when the operation failed or lasts longer than the user waits, or when the control plane was deleted
 */
export async function follow(
  session: Session,
  { cluster, object }: ControlPlane,
  look: (controlPlane: ControlPlane) => Progress,
): Promise<string> {
  const { terminal, now, timeoutMs } = session;
  const begin = now();
  const continues = `the operation continues: see ${nextCommand('status', cluster, session.namespace)}`;
  const interrupted = () => {
    terminal.info(continues);
    process.exit(interruptedCode);
  };
  process.once('SIGINT', interrupted);
  const limit = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
  let last: string | undefined;
  try {
    for await (const changed of changesOf(session, object.metadata.name, limit)) {
      if (!changed) throw new Error(`the control plane of ${cluster} was deleted`);
      const progress = look(readControlPlane(changed));
      if (progress.kind === 'done') return progress.message;
      if (progress.kind === 'failed') throw new Error(progress.message);
      if (progress.message !== last) terminal.info(`${spanText(now() - begin)}  ${progress.message}`);
      last = progress.message;
    }
  } catch (error) {
    if (!limit?.aborted) throw error;
  } finally {
    process.off('SIGINT', interrupted);
  }
  throw new Error(
    `${cluster} was not done after ${spanText(timeoutMs ?? 0)}${last ? `, at: ${last}` : ''}; ${continues}`,
  );
}

/** What a command has requested of the operator. */
interface Requested {
  /** What is printed without `--wait`, before the command that shows what comes of it. */
  readonly said: string;
  /** That command. @default status */
  readonly shownBy?: string;
  readonly wait: boolean;
  /** See {@link follow}. */
  readonly look: (controlPlane: ControlPlane) => Progress;
}

/** Prints what a request comes to, with `--wait`, or where to see it. */
export async function printRequested(
  session: Session,
  controlPlane: ControlPlane,
  requested: Requested,
): Promise<void> {
  const { said, shownBy = 'status', wait, look } = requested;
  const seen = nextCommand(shownBy, controlPlane.cluster, session.namespace);
  session.terminal.print(wait ? await follow(session, controlPlane, look) : `${said}: see ${seen}`);
}

/** That of a program which a user has interrupted, as shells know it. */
const interruptedCode = 130;

/**
 * The current HostedControlPlane, and its state after each change; undefined when it is deleted. Otherwise it never ends.
 * @param signal ends it with an error
 */
export async function* changesOf<T extends KubeObject>(
  { client, namespace }: Session,
  name: string,
  signal?: AbortSignal,
): AsyncGenerator<T | undefined> {
  const selection = { namespace, fieldSelector: `metadata.name=${name}` };
  for await (const [object] of selectedControlPlanes<T>(client, selection, signal)) yield object;
}
