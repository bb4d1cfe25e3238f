import { minorOf } from '../../../../constructs/cluster/versions.ts';
import { samplesOf } from '../../../kube/metric-samples.ts';

/** A deprecated API that clients have requested. */
export interface RequestedAPI {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** The minor that does not serve it any more, such as `1.37`. */
  readonly removedRelease: string;
}

const metric = 'apiserver_requested_deprecated_apis';
const names = ['group', 'version', 'resource', 'removed_release'] as const;
type Labels = [group: string, version: string, resource: string, removedRelease: string];

/** The deprecated APIs that an API server names in its metrics: those that were requested since it started. */
export function requestedAPIs(metrics: string): RequestedAPI[] {
  return samplesOf(metrics, metric).flatMap(({ labels }) => {
    const [group, version, resource, removedRelease] = names.map((name) => labels.get(name) ?? '') as Labels;
    return /^\d{1,3}\.\d{1,3}$/.test(removedRelease) ? [{ group, version, resource, removedRelease }] : [];
  });
}

/** Whether a version of Kubernetes does not serve it any more. */
export function isRemovedBy({ removedRelease }: RequestedAPI, version: string): boolean {
  return minorOf(removedRelease) <= minorOf(version);
}
