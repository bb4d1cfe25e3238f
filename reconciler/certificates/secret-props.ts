import { ownerReference } from '../../constructs/control-plane/chart.ts';
import type { SecretProps } from '../pki/secret.ts';
import type { ControlPlaneContext } from '../clusters/management/view.ts';

/** The common properties of all Secrets of one hosted control plane. */
export function secretProps(
  { cluster, hostedControlPlane }: Pick<ControlPlaneContext, 'cluster' | 'hostedControlPlane'>,
  name: string,
): SecretProps {
  const { name: ownerName, uid = '' } = hostedControlPlane.metadata;
  return {
    name,
    namespace: cluster.namespace,
    cluster: cluster.name,
    owner: ownerReference({ name: ownerName, uid }),
  };
}
