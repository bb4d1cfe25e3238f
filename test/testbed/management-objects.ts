import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  Deployment,
  Service,
  ServiceAccount,
  type Resource,
} from '../../constructs/api/resources.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import { corednsImage } from './images.ts';
import { dnsAddress, type Instance } from './instance.ts';
import { provisioner, storageClassName } from './volumes.ts';

const StorageClass: Resource = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  plural: 'storageclasses',
  namespaced: false,
};

interface Rendered extends KubeObject {
  readonly [field: string]: unknown;
}

/** An object and the resource it is one of. */
export type Manifest = readonly [Resource, Rendered];

/** What the management cluster has beside its control plane: DNS, a default StorageClass, kube-proxy's permissions. */
export async function managementObjects(instance: Instance): Promise<Manifest[]> {
  return [...coredns(await corednsImage(), dnsAddress(instance)), storageClass(), kubeProxyBinding()];
}

const rbac = 'rbac.authorization.k8s.io';

function storageClass(): Manifest {
  const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
  return [
    StorageClass,
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: storageClassName, annotations },
      provisioner,
      allowVolumeExpansion: true,
      reclaimPolicy: 'Delete',
      volumeBindingMode: 'Immediate',
    },
  ];
}

function kubeProxyBinding(): Manifest {
  const user = { apiGroup: rbac, kind: 'User', name: 'system:kube-proxy' };
  return [ClusterRoleBinding, binding('testbed:kube-proxy', 'system:node-proxier', user)];
}

function coredns(image: string, clusterIP: string): Manifest[] {
  const metadata = { name: 'coredns', namespace: 'kube-system' };
  const selector = { 'k8s-app': 'kube-dns' };
  const account = { kind: 'ServiceAccount', ...metadata };
  const rules = [
    { apiGroups: [''], resources: ['endpoints', 'services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
  ];
  const role = { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name: 'system:coredns' }, rules };
  const ports = ['UDP', 'TCP'].map((protocol) => ({ name: `dns-${protocol.toLowerCase()}`, port: 53, protocol }));
  return [
    [ServiceAccount, { apiVersion: 'v1', kind: 'ServiceAccount', metadata }],
    [ClusterRole, role],
    [ClusterRoleBinding, binding('system:coredns', 'system:coredns', account)],
    [ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { Corefile: corefile } }],
    [
      Service,
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'kube-dns', namespace: 'kube-system' },
        spec: { clusterIP, selector, ports },
      },
    ],
    [Deployment, { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: corednsDeployment(image, selector) }],
  ];
}

/** Short lives of answers: a test that makes a Service looks it up at once. */
const corefile = `.:53 {
  errors
  health :8080
  ready
  kubernetes cluster.local in-addr.arpa ip6.arpa {
    pods insecure
    ttl 5
  }
  cache 5 {
    denial 1000 1
  }
  reload
}
`;

function corednsDeployment(image: string, labels: Record<string, string>): unknown {
  const container = {
    name: 'coredns',
    image,
    args: ['-conf', '/etc/coredns/Corefile'],
    volumeMounts: [{ name: 'config', mountPath: '/etc/coredns' }],
    readinessProbe: { httpGet: { path: '/ready', port: 8181 }, periodSeconds: 1 },
  };
  return {
    replicas: 1,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        serviceAccountName: 'coredns',
        dnsPolicy: 'Default',
        containers: [container],
        volumes: [{ name: 'config', configMap: { name: 'coredns' } }],
      },
    },
  };
}

function binding(name: string, role: string, subject: object): Rendered {
  const roleRef = { apiGroup: rbac, kind: 'ClusterRole', name: role };
  return {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef,
    subjects: [subject],
  };
}
