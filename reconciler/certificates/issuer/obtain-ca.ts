import { requireRightClock } from '../../engine/clock-wrong.ts';
import { createCA, validFor } from '../../pki/issue.ts';
import { askIssuer } from './ask-issuer.ts';
import type { ObtainCAProps, ObtainedCA } from './obtained-ca.ts';
import type { IssuerContext } from './context.ts';

/**
 * Obtains a CA with a new key: self-signed, or signed by the issuer of the spec. The latter is pending for a while.
 * Call it again until it returns the CA, and store the CA. Then `clearRequests` deletes the intermediate objects.
 */
export async function obtainCA(scope: IssuerContext, props: ObtainCAProps): Promise<ObtainedCA> {
  requireRightClock(scope, `the CA for Secret ${props.secret}`);
  const { issuerRef } = scope.cluster.spec.certificates;
  if (issuerRef) return askIssuer(scope, props, issuerRef);
  const { plan, durationSeconds } = props;
  return { kind: 'obtained', pair: await createCA(plan, validFor(durationSeconds * 1000, scope.now)) };
}
