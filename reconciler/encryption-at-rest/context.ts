import type { HostedAccess } from '../hosted/hosted-client.ts';
import type { ControlPlaneContext } from '../management/view.ts';
import type { Work } from '../tasks/background-work.ts';

/** What the creation and rotation of encryption keys need. */
export interface EncryptionContext extends ControlPlaneContext, HostedAccess {
  readonly work: Work;
}
