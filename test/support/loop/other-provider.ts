import {
  Cluster,
  ConfigMap,
  Deployment,
  HostedControlPlane,
  PersistentVolume,
  PersistentVolumeClaim,
  Secret,
  Service,
  StatefulSet,
  TLSRoute,
  type Resource,
} from '../../../constructs/api/resources.ts';
import { Certificate, Issuer } from '../../../reconciler/import/resources.ts';
import { teutonetControlPlane } from '../../../reconciler/import/teutonet.ts';
import { createCA, createServiceAccountKey, validFor } from '../../../reconciler/pki/issue.ts';
import { encodedData } from '../../../reconciler/pki/secret.ts';
import { storeSecret } from '../backup-secrets.ts';
import { ManualClock } from '../manual-clock.ts';
import type { ObjectStoreServer } from '../object-store-server.ts';
import { clusterName, namespace, now } from '../scope.ts';
import { MemoryCluster, ourName } from './memory-cluster.ts';

const user = { fieldManager: 'hosted-control-plane-controller' };
const labels = { 'cluster.x-k8s.io/cluster-name': clusterName };
const etcdLabels = { ...labels, 'app.kubernetes.io/component': 'etcd' };
const container = { image: 'example.org/other:1' };

/** The PEM of the CA that an {@link otherProvidersCluster} has. */
export const otherCA = await createCA({ commonName: 'kubernetes' }, validFor(36 * 3_600_000, now));
const serviceAccount = createServiceAccountKey();

/** The issuer in the arguments of its API servers. */
export const otherIssuer = 'https://issuer.example.org';

/** The endpoint of an {@link otherProvidersCluster}. */
export const otherEndpoint = { host: '192.0.2.10', port: 6443 };

/** A control plane that teutonet's provider has made: all objects by the names that it gives them. */
export async function otherProvidersCluster(bucket: ObjectStoreServer, etcd: object = {}): Promise<MemoryCluster> {
  const cluster = new MemoryCluster(new ManualClock(now.getTime()));
  await cluster.install();
  for (const resource of [Certificate, Issuer, TLSRoute]) await cluster.define(resource);
  // Not by a client, which knows only the kinds of the operator.
  const create = (resource: Resource, name: string, content: object = {}) => {
    const { apiVersion, kind, namespaced } = resource;
    const own = { ...labels, 'app.kubernetes.io/component': name === `${clusterName}-etcd` ? 'etcd' : name };
    const metadata = { name, labels: own, ...(namespaced ? { namespace } : {}) };
    cluster.management.create(resource, { apiVersion, kind, metadata, ...content }, user);
  };
  const { leftovers, etcd: place } = teutonetControlPlane(clusterName);
  for (const { resource, name } of leftovers) {
    if (resource === Secret) create(Secret, name, { data: encodedData(contentOf(name)) });
    else if (resource === Deployment) create(Deployment, name, workload(name, { replicas: 2 }));
    else if (resource === StatefulSet) create(StatefulSet, name, workload(name, { replicas: 3 }, etcdLabels));
    else if (resource === TLSRoute) create(TLSRoute, name, { spec: { parentRefs: [] } });
    else if ([Certificate, Issuer, ConfigMap].includes(resource)) create(resource, name);
  }
  const type = 'LoadBalancer';
  create(Service, `s-${clusterName}`, { spec: { type, selector: {}, ports: [] } });
  for (const ordinal of [0, 1, 2]) {
    const claim = `${place?.claimTemplate}-${place?.set.name}-${ordinal}`;
    const storage = { requests: { storage: '1Gi' } };
    create(PersistentVolume, `pv-${ordinal}`, { spec: { persistentVolumeReclaimPolicy: 'Delete' } });
    create(PersistentVolumeClaim, claim, { spec: { volumeName: `pv-${ordinal}`, resources: storage } });
  }
  await cluster.user.create(storeSecret({ namespace, name: 's3' }, bucket.settings), user);
  const backup = { schedule: '0 0 1 1 *', secret: { name: 's3' }, verify: { disabled: true } };
  await cluster.order({ etcd: { replicas: 1, backup, ...etcd }, replicas: 1 });
  const endpoint = { spec: { controlPlaneEndpoint: otherEndpoint } };
  await cluster.user.mergePatch(Cluster, { namespace, name: clusterName }, endpoint, user);
  const status = { initialization: { controlPlaneInitialized: true }, conditions: [{ type: 'CABundleReady' }] };
  await cluster.user.mergePatch(HostedControlPlane, ourName, { status }, { ...user, subresource: 'status' });
  cluster.settle();
  return cluster;
}

function contentOf(name: string): Record<string, string> {
  const { certificate, key } = otherCA;
  if (name === `${clusterName}-service-account`) return { 'tls.key': serviceAccount.key };
  return { 'tls.crt': certificate, 'tls.key': key, 'ca.crt': certificate };
}

function workload(
  name: string,
  spec: object,
  own: object = { ...labels, 'app.kubernetes.io/component': name },
): object {
  const containers = [{ name: 'kube-apiserver', args: [`--service-account-issuer=${otherIssuer}`], ...container }];
  return {
    spec: { ...spec, selector: { matchLabels: own }, template: { metadata: { labels: own }, spec: { containers } } },
  };
}
