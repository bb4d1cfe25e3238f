import { etcdVersion, kubernetesTag } from '../../../constructs/cluster/versions.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';

/** The field manager of teutonet's provider, which is also that of this one. */
export const otherFieldManager = 'hosted-control-plane-controller';

const restricted = {
  runAsUser: 1000,
  runAsGroup: 1000,
  runAsNonRoot: true,
  fsGroup: 1000,
  seccompProfile: { type: 'RuntimeDefault' },
};
const container = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
};

interface Other {
  readonly namespace: string;
  readonly cluster: string;
  readonly version: string;
  /** Address of the load balancer in front of the API server. */
  readonly address: string;
}

/** An object as that provider applies it. */
export type Rendered = KubeObject & Readonly<Record<string, unknown>>;

/** The labels by which that provider finds the pods of a component. */
export const labelsOf = (cluster: string, component: string) => ({
  'cluster.x-k8s.io/cluster-name': cluster,
  'app.kubernetes.io/component': component,
});
const metadataOf = ({ namespace, cluster }: Pick<Other, 'namespace' | 'cluster'>, name: string, component: string) => ({
  namespace,
  name,
  labels: labelsOf(cluster, component),
});
const flags = (given: Readonly<Record<string, string>>): string[] =>
  Object.entries(given).map(([name, value]) => `--${name}=${value}`);
const item = (secret: string, items: Readonly<Record<string, string>>) => ({
  secret: { name: secret, items: Object.entries(items).map(([key, path]) => ({ key, path })) },
});

/** The Service of the API server. Its address is known before anything else exists. */
export function otherApiService(other: Pick<Other, 'namespace' | 'cluster'>): Rendered {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadataOf(other, `s-${other.cluster}`, 'api-server'),
    spec: {
      type: 'LoadBalancer',
      selector: labelsOf(other.cluster, 'api-server'),
      ports: [
        { name: 'api', port: 443, targetPort: 'api' },
        { name: 'legacy-api', port: 6443, targetPort: 'api' },
        { name: 'konnectivity', port: 8132, targetPort: 'konnectivity' },
      ],
    },
  };
}

/** etcd and the API server, without konnectivity, as teutonet's provider renders them. */
export function otherObjects(other: Other): Rendered[] {
  return [...etcdServices(other), etcdSet(other), apiServer(other)];
}

function etcdServices(other: Other): Rendered[] {
  const { cluster } = other;
  const ports = [
    { name: 'etcd-server', port: 2379 },
    { name: 'client-peer', port: 2380 },
    { name: 'client-metrics', port: 2381 },
  ];
  const selector = labelsOf(cluster, 'etcd');
  const service = (name: string, spec: object): Rendered => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadataOf(other, name, 'etcd'),
    spec: { selector, ports, ...spec },
  });
  return [
    service(`e-${cluster}-etcd`, { clusterIP: 'None', publishNotReadyAddresses: true }),
    service(`e-${cluster}-etcd-client`, {}),
  ];
}

function etcdSet(other: Other): Rendered {
  const { namespace, cluster, version } = other;
  const name = `${cluster}-etcd`;
  const peer = (member: string) => `https://${member}.e-${name}.${namespace}.svc:2380`;
  const members = [0, 1, 2].map((ordinal) => `${name}-${ordinal}`);
  const labels = labelsOf(cluster, 'etcd');
  const args = flags({
    name: '$(POD_NAME)',
    'data-dir': '/var/lib/etcd',
    'listen-client-urls': 'https://0.0.0.0:2379',
    'listen-peer-urls': 'https://0.0.0.0:2380',
    'advertise-client-urls': `https://$(POD_NAME).e-${name}.${namespace}.svc:2379`,
    'initial-advertise-peer-urls': peer('$(POD_NAME)'),
    'listen-metrics-urls': 'http://0.0.0.0:2381',
    'initial-cluster': members.map((member) => `${member}=${peer(member)}`).join(','),
    'initial-cluster-state': 'new',
    'initial-cluster-token': 'etcd-cluster',
    'client-cert-auth': 'true',
    'trusted-ca-file': '/etc/etcd/ca.crt',
    'cert-file': '/etc/etcd/server.crt',
    'key-file': '/etc/etcd/server.key',
    'peer-client-cert-auth': 'true',
    'peer-trusted-ca-file': '/etc/etcd/ca.crt',
    'peer-cert-file': '/etc/etcd/peer.crt',
    'peer-key-file': '/etc/etcd/peer.key',
    'quota-backend-bytes': '966367641',
  });
  const sources = [
    item(`${cluster}-etcd-ca-bundle`, { 'ca.crt': 'ca.crt' }),
    item(`${cluster}-etcd-server`, { 'tls.crt': 'server.crt', 'tls.key': 'server.key' }),
    item(`${cluster}-etcd-peer`, { 'tls.crt': 'peer.crt', 'tls.key': 'peer.key' }),
  ];
  const etcd = {
    name: 'etcd',
    image: `registry.k8s.io/etcd:${etcdVersion({ spec: { version } })}-0`,
    command: ['etcd'],
    args,
    env: [{ name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
    ports: [
      { name: 'server', containerPort: 2379 },
      { name: 'metrics', containerPort: 2381 },
    ],
    readinessProbe: { httpGet: { path: '/readyz', port: 'metrics' }, periodSeconds: 1 },
    securityContext: container,
    volumeMounts: [
      { name: 'etcd-data', mountPath: '/var/lib/etcd' },
      { name: 'pki', mountPath: '/etc/etcd' },
    ],
  };
  const storage = { requests: { storage: '1Gi' } };
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: metadataOf(other, name, 'etcd'),
    spec: {
      serviceName: `e-${name}`,
      replicas: 3,
      podManagementPolicy: 'Parallel',
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Retain' },
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          automountServiceAccountToken: false,
          securityContext: restricted,
          containers: [etcd],
          volumes: [{ name: 'pki', projected: { sources } }],
        },
      },
      volumeClaimTemplates: [
        { metadata: { name: 'etcd-data', labels }, spec: { accessModes: ['ReadWriteOnce'], resources: storage } },
      ],
    },
  };
}

function apiServer(other: Other): Rendered {
  const { namespace, cluster, version, address } = other;
  const pki = (file: string) => `/etc/kubernetes/pki/${file}`;
  const labels = labelsOf(cluster, 'api-server');
  const args = flags({
    'advertise-address': address,
    'allow-privileged': 'true',
    'authorization-mode': 'Node,RBAC',
    'client-ca-file': pki('ca.crt'),
    'enable-bootstrap-token-auth': 'true',
    'etcd-cafile': pki('etcd/ca.crt'),
    'etcd-certfile': pki('apiserver-etcd-client.crt'),
    'etcd-keyfile': pki('apiserver-etcd-client.key'),
    'etcd-servers': `https://e-${cluster}-etcd-client.${namespace}.svc:2379`,
    'secure-port': '6443',
    'service-account-issuer': 'https://kubernetes.default.svc',
    'service-account-jwks-uri': `https://${address}:6443/openid/v1/jwks`,
    'service-account-key-file': pki('sa.pub'),
    'service-account-signing-key-file': pki('sa.key'),
    'service-cluster-ip-range': '10.128.0.0/16',
    'tls-cert-file': pki('apiserver.crt'),
    'tls-private-key-file': pki('apiserver.key'),
  });
  const sources = [
    item(`${cluster}-ca-bundle`, { 'ca.crt': 'ca.crt' }),
    item(`${cluster}-service-account`, { 'tls.crt': 'sa.pub', 'tls.key': 'sa.key' }),
    item(`${cluster}-apiserver`, { 'tls.crt': 'apiserver.crt', 'tls.key': 'apiserver.key' }),
    item(`${cluster}-etcd-ca-bundle`, { 'ca.crt': 'etcd/ca.crt' }),
    item(`${cluster}-etcd-apiserver-client`, {
      'tls.crt': 'apiserver-etcd-client.crt',
      'tls.key': 'apiserver-etcd-client.key',
    }),
  ];
  const server = {
    name: 'kube-apiserver',
    image: `registry.k8s.io/kube-apiserver:${kubernetesTag(version)}`,
    command: ['kube-apiserver'],
    args,
    ports: [{ name: 'api', containerPort: 6443 }],
    readinessProbe: { httpGet: { path: '/readyz', port: 'api', scheme: 'HTTPS' }, periodSeconds: 1 },
    securityContext: { ...container, capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } },
    volumeMounts: [{ name: 'pki', mountPath: '/etc/kubernetes/pki', readOnly: true }],
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadataOf(other, `${cluster}-api-server`, 'api-server'),
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          automountServiceAccountToken: false,
          securityContext: restricted,
          containers: [server],
          volumes: [{ name: 'pki', projected: { sources } }],
        },
      },
    },
  };
}
