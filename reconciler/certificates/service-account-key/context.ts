import type { HostedAccess } from '../../clusters/hosted/hosted-client.ts';
import type { Clock } from '../../kube/clock.ts';
import type { ControlPlaneContext } from '../../clusters/management/view.ts';
import type { Work } from '../../engine/tasks/background-work.ts';

/** What a rotation of the service account key needs. */
export interface KeyRotationContext extends ControlPlaneContext, HostedAccess {
  readonly work: Work;
  readonly clock: Clock;
}
