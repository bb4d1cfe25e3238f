import { certificateLifetimes } from '../../api/certificates-spec.ts';
import { durationSeconds, isDuration } from '../../api/duration.ts';
import type { HostedCluster } from '../../cluster/cluster.ts';

/**
 * How long certificates live that the controller manager signs, those of kubelets above all, such as `8760h`: as long as
 * ours, unless the user's arguments of it say something else.
 */
export function signingDuration({ spec }: Pick<HostedCluster, 'spec'>): string {
  const wanted = spec.deployment.controllerManager.args?.['cluster-signing-duration'];
  return wanted !== undefined && isDuration(wanted)
    ? wanted
    : `${certificateLifetimes(spec.certificates).leafSeconds}s`;
}

/** The same in seconds. */
export function signingSeconds(cluster: Pick<HostedCluster, 'spec'>): number {
  return durationSeconds(signingDuration(cluster));
}
