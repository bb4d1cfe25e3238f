import { certificateLifetimes } from '../../api/certificates-spec.ts';
import { durationSeconds, isDuration } from '../../api/duration.ts';
import type { HostedCluster } from '../../cluster/cluster.ts';

/**
 * Lifetime of the certificates that the controller manager signs, above all those of kubelets, such as `8760h`. It is
 * that of the operator's leaf certificates, unless the user's arguments of the controller manager set another one.
 */
export function signingDuration({ spec }: Pick<HostedCluster, 'spec'>): string {
  const wanted = spec.deployment.controllerManager.args?.['cluster-signing-duration'];
  return wanted !== undefined && isDuration(wanted)
    ? wanted
    : `${certificateLifetimes(spec.certificates).leafSeconds}s`;
}

/** {@link signingDuration} in seconds. */
export function signingSeconds(cluster: Pick<HostedCluster, 'spec'>): number {
  return durationSeconds(signingDuration(cluster));
}
