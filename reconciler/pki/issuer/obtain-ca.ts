import { createCA, validFor } from '../issue.ts';
import { askIssuer } from './ask-issuer.ts';
import type { ObtainCAProps, ObtainedCA } from './obtained-ca.ts';
import type { IssuerContext } from './context.ts';

/**
 * A new authority with a new key: one that signs itself, or one that the issuer of the spec has signed. The latter is
 * pending for a while; to be called again until it is there, and stored by its caller, after which `clearRequests` takes
 * away what was kept meanwhile.
 */
export async function obtainCA(scope: IssuerContext, props: ObtainCAProps): Promise<ObtainedCA> {
  const { issuerRef } = scope.cluster.spec.certificates;
  if (issuerRef) return askIssuer(scope, props, issuerRef);
  const { plan, durationSeconds } = props;
  return { kind: 'obtained', pair: await createCA(plan, validFor(durationSeconds * 1000, scope.now)) };
}
