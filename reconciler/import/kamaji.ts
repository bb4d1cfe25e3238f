import { Deployment } from '../../constructs/api/resources.ts';
import type { KubeObject } from '../kube/object.ts';
import type { OtherControlPlane } from './other-control-plane.ts';

/** The fields of a TenantControlPlane that an import reads: Kamaji's definitions are not among the pinned ones. */
export interface TenantControlPlaneObject extends KubeObject {
  readonly status?: {
    readonly certificates?: {
      readonly ca?: { readonly secretName?: string };
      readonly sa?: { readonly secretName?: string };
    };
    readonly storage?: { readonly driver?: string; readonly dataStoreName?: string };
  };
}

/**
 * A control plane of Kamaji. Its data are in a DataStore that others share, below a prefix of its own, so that no
 * snapshot of that etcd has the layout of this provider.
 */
export function kamajiControlPlane({ metadata, status }: TenantControlPlaneObject): OtherControlPlane {
  const { name } = metadata;
  const store = `DataStore ${status?.storage?.dataStoreName ?? 'unknown'} (${status?.storage?.driver ?? 'unknown'})`;
  return {
    provider: 'Kamaji',
    name,
    servers: [{ resource: Deployment, name }],
    etcd: undefined,
    clusterCA: { secret: status?.certificates?.ca?.secretName ?? `${name}-ca`, certificate: 'ca.crt', key: 'ca.key' },
    trusted: undefined,
    serviceAccountKey: { secret: status?.certificates?.sa?.secretName ?? `${name}-sa-certificate`, key: 'sa.key' },
    issuer: 'https://kubernetes.default.svc.cluster.local',
    leftovers: [{ resource: Deployment, name }],
    notCarriedOver: [
      `the data in ${store}, other than by a snapshot that you name: it belongs to several control planes. From etcd, copy the keys of this one to the prefix /registry of an empty etcd with etcdctl make-mirror, and save a snapshot of that; from an SQL store there is no way`,
      'add-ons that Kamaji manages in the hosted cluster: the operator manages kube-proxy, CoreDNS and konnectivity, and replaces add-ons of the same name',
      `the objects KamajiControlPlane and TenantControlPlane ${name}, the Service and the Secrets of Kamaji: delete them when the import is complete`,
    ],
  };
}
