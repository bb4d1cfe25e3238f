import { type ReleaseSeries, releaseVersion, seriesUntil } from './release.ts';

/** Metadata of the releases of this provider for clusterctl: the contract of each series. */
export interface ProviderMetadata {
  readonly apiVersion: string;
  readonly kind: 'Metadata';
  readonly releaseSeries: readonly ReleaseSeries[];
}

/** The metadata of a release, by default this one. clusterctl rejects unknown fields. */
export function renderMetadata(version = releaseVersion): ProviderMetadata {
  return {
    apiVersion: 'clusterctl.cluster.x-k8s.io/v1alpha3',
    kind: 'Metadata',
    releaseSeries: seriesUntil(version),
  };
}
