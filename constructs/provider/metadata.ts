import { contractLabel } from '../api/group.ts';
import { releaseSeries } from './release.ts';

/** Metadata of the releases of this provider for clusterctl: the contract of each series. */
export interface ProviderMetadata {
  readonly apiVersion: string;
  readonly kind: 'Metadata';
  readonly releaseSeries: readonly { readonly major: number; readonly minor: number; readonly contract: string }[];
}

/** The metadata of this release. clusterctl rejects unknown fields. */
export function renderMetadata(): ProviderMetadata {
  const [, contract = ''] = contractLabel.split('/');
  return {
    apiVersion: 'clusterctl.cluster.x-k8s.io/v1alpha3',
    kind: 'Metadata',
    releaseSeries: [{ ...releaseSeries(), contract }],
  };
}
