import { contractLabel } from '../api/group.ts';
import { releaseSeries } from './release.ts';

/** What clusterctl must know about the releases of this provider: the contract of each series. */
export interface ProviderMetadata {
  readonly apiVersion: string;
  readonly kind: 'Metadata';
  readonly releaseSeries: readonly { readonly major: number; readonly minor: number; readonly contract: string }[];
}

/** The metadata of this release; clusterctl refuses fields it does not know. */
export function renderMetadata(): ProviderMetadata {
  const [, contract = ''] = contractLabel.split('/');
  return {
    apiVersion: 'clusterctl.cluster.x-k8s.io/v1alpha3',
    kind: 'Metadata',
    releaseSeries: [{ ...releaseSeries(), contract }],
  };
}
