import { Secret, StatefulSet } from '../../constructs/api/resources.ts';
import type { OtherControlPlane } from './other-control-plane.ts';

/** Secrets in Cluster API's layout, and those of etcd's certificates. */
const secrets = ['ca', 'etcd', 'proxy', 'sa', 'apiserver-etcd-client', 'etcd-server', 'etcd-peer', 'kubeconfig'];

/** A control plane of k0smotron with an etcd of its own: all servers are processes of one StatefulSet. */
export function k0smotronControlPlane(cluster: string): OtherControlPlane {
  const servers = [{ resource: StatefulSet, name: `kmc-${cluster}` }];
  const set = { resource: StatefulSet, name: `kmc-${cluster}-etcd` };
  const pair = { certificate: 'tls.crt', key: 'tls.key' };
  return {
    provider: 'k0smotron',
    name: cluster,
    servers,
    etcd: {
      set,
      claimTemplate: 'etcd-data',
      ca: { secret: `${cluster}-etcd`, key: 'tls.crt' },
      client: { secret: `${cluster}-apiserver-etcd-client`, ...pair },
    },
    clusterCA: { secret: `${cluster}-ca`, ...pair },
    trusted: undefined,
    serviceAccountKey: { secret: `${cluster}-sa`, key: 'tls.key' },
    issuer: 'https://kubernetes.default.svc',
    leftovers: [...servers, set, ...secrets.map((suffix) => ({ resource: Secret, name: `${cluster}-${suffix}` }))],
    notCarriedOver: [
      'data in a kine datastore (SQLite, PostgreSQL, MySQL, NATS): only data in etcd can be restored',
      'join tokens and K0sWorkerConfigs: new workers join with kubeadm; the workers that exist stay',
      "add-ons of k0s in the hosted cluster, such as its network plugin and its konnectivity agents: the operator manages none of them, so remove those that its own add-ons replace, or disable the operator's",
      `Services, and the objects K0smotronControlPlane and Cluster (k0smotron.io) of ${cluster}: delete them when the import is complete`,
    ],
  };
}
