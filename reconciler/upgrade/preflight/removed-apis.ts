import { minorOf } from '../../../constructs/cluster/versions.ts';

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

/** The deprecated APIs that an API server names in its metrics: those that were requested since it started. */
export function requestedAPIs(metrics: string): RequestedAPI[] {
  return metrics.split('\n').flatMap((line) => {
    if (!line.startsWith(`${metric}{`)) return [];
    const labels = Object.fromEntries(
      [...line.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]),
    );
    const { group = '', version = '', resource = '', removed_release: removedRelease = '' } = labels;
    return /^\d+\.\d+$/.test(removedRelease) ? [{ group, version, resource, removedRelease }] : [];
  });
}

/** Whether a version of Kubernetes does not serve it any more. */
export function isRemovedBy({ removedRelease }: RequestedAPI, version: string): boolean {
  return minorOf(removedRelease) <= minorOf(version);
}
