import type { HostedAccess } from '../../hosted/hosted-client.ts';
import type { ControlPlaneContext } from '../../management/view.ts';
import type { Work } from '../../tasks/background-work.ts';

/** What the service account key is rotated with. */
export interface KeyRotationContext extends ControlPlaneContext, HostedAccess {
  readonly work: Work;
}
