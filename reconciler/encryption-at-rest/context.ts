import type { HostedAccess } from '../clusters/hosted/hosted-client.ts';
import type { Clock } from '../kube/clock.ts';
import type { ControlPlaneContext } from '../clusters/management/view.ts';
import type { RunState } from '../run-state/run-state.ts';
import type { Work } from '../engine/tasks/background-work.ts';

/** What the creation and rotation of encryption keys need. */
export interface EncryptionContext extends ControlPlaneContext, HostedAccess {
  readonly runState: Pick<RunState, 'because'>;
  readonly work: Work;
  readonly clock: Clock;
}
