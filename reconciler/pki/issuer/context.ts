import type { ControlPlaneContext, SharedResources } from '../../management/view.ts';

/** What a CA is obtained with. */
export interface IssuerContext extends ControlPlaneContext {
  readonly sharedResources: SharedResources;
}
