import type { ControlPlaneContext, SharedResources } from '../../clusters/management/view.ts';

/** What obtaining a CA needs. */
export interface IssuerContext extends ControlPlaneContext {
  readonly sharedResources: SharedResources;
  /** Issuers beyond the namespace that the platform lists, as `<namespace>/<Kind>/<name>`. */
  readonly clusterIssuers: readonly string[];
}
