import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Location of the pinned Go modules: one folder per family, because the modules of one program must not decide over what is under
 * test in another. Those of {@link bystanders} do: the version of a library that Kubernetes has, or else the highest
 * that one of them requires, is the version in all of them, so that Go compiles each package once. `exclude` in
 * their go.mod takes back what they require beyond that.
 */
export const goDirectory = join(import.meta.dirname, 'go');

/** Binaries that are built from one go.mod. */
export interface Family {
  /** Folder below {@link goDirectory}. */
  readonly name: string;
  /** Set where not all of its binaries are built together: those of nodes, which fewer tests need than a control plane's. */
  readonly part?: 'nodes';
  /** The module whose version names the family. */
  readonly module: string;
  /** Folder of its main package, if it uses another family's with versions of its own. */
  readonly main?: string;
  /** File name to Go package. Empty if the module is there for other files. */
  readonly binaries: Readonly<Record<string, string>>;
  readonly tags?: readonly string[];
  /** Build tags of only one binary. */
  readonly extraTags?: Readonly<Record<string, readonly string[]>>;
  /** Go variables set at link time, for a version such as `v1.36.3`. */
  readonly variables?: (version: string) => Readonly<Record<string, string>>;
}

export const etcdModule = 'go.etcd.io/etcd/server/v3';
const etcdutl = 'go.etcd.io/etcd/etcdutl/v3';
export const clusterApiModule = 'sigs.k8s.io/cluster-api';

const serverBinaries = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];
const nodeBinaries = ['kubelet', 'kube-proxy', 'kubeadm'];

const konnectivity: Family = {
  name: 'konnectivity',
  module: 'sigs.k8s.io/apiserver-network-proxy',
  binaries: {
    'konnectivity-server': 'sigs.k8s.io/apiserver-network-proxy/cmd/server',
    'konnectivity-agent': 'sigs.k8s.io/apiserver-network-proxy/cmd/agent',
  },
};

/** How Kubernetes compiles gRPC: with other tags, all that imports it would be compiled again. */
const sharedTags = ['grpcnotrace'] as const;

/** With the plugins that Corefiles of this repository use. */
const coredns: Family = {
  name: 'coredns',
  module: 'github.com/coredns/coredns',
  binaries: { coredns: '.' },
  tags: sharedTags,
};

export const families: readonly Family[] = [
  {
    name: 'etcd',
    module: etcdModule,
    binaries: {
      etcd: etcdModule,
      etcdctl: 'go.etcd.io/etcd/etcdctl/v3',
      etcdutl,
    },
  },
  kubernetes('kubernetes', [...serverBinaries, ...nodeBinaries, 'kubectl']),
  {
    name: 'cni',
    module: 'github.com/containernetworking/plugins',
    binaries: Object.fromEntries(
      ['main/bridge', 'main/loopback', 'ipam/host-local', 'meta/portmap'].map((path) => [
        path.slice(path.indexOf('/') + 1),
        `github.com/containernetworking/plugins/plugins/${path}`,
      ]),
    ),
  },
  {
    name: 'containerd',
    module: 'github.com/containerd/containerd/v2',
    binaries: {
      containerd: 'github.com/containerd/containerd/v2/cmd/containerd',
      ctr: 'github.com/containerd/containerd/v2/cmd/ctr',
      'containerd-shim-runc-v2': 'github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2',
    },
    tags: ['urfave_cli_no_docs', 'no_btrfs', 'no_devmapper', 'no_zfs'],
    // without it containerd and ctr do not compile
    extraTags: { 'containerd-shim-runc-v2': ['no_grpc'] },
    variables: (version) => ({ 'github.com/containerd/containerd/v2/version.Version': version }),
  },
  konnectivity,
  coredns,
  {
    name: 'cluster-api',
    module: clusterApiModule,
    binaries: {
      'capi-core': `${clusterApiModule}/core`,
      clusterctl: `${clusterApiModule}/cmd/clusterctl`,
      'capi-kubeadm-bootstrap': `${clusterApiModule}/bootstrap/kubeadm`,
    },
    tags: sharedTags,
    variables: clusterApiVariables,
  },
  {
    name: 'traefik',
    module: 'github.com/traefik/traefik/v3',
    binaries: { traefik: 'github.com/traefik/traefik/v3/cmd/traefik' },
    tags: sharedTags,
    variables: (version) => ({ 'github.com/traefik/traefik/v3/pkg/version.Version': version.slice(1) }),
  },
  // read for its CRDs only
  { name: 'cilium', module: 'github.com/cilium/cilium', binaries: {} },
  { name: 'pause', module: 'testbed.local/pause', binaries: { pause: 'testbed.local/pause' } },
];

/** The folders below {@link goDirectory} that pin what runs in hosted clusters of one minor of Kubernetes. */
export interface MinorFolders {
  readonly kubernetes: string;
  readonly etcd: string;
  readonly konnectivity: string;
  readonly coredns: string;
  /** The patch release of etcd through which an upgrade to the next minor goes, where it is another one. */
  readonly lastEtcd?: string;
  /** Tests restore backups into its etcd, with its own etcdutl. */
  readonly restores?: true;
  /** Of which minor's folder the kubelet and kubeadm are, where `kubernetes` has only what a control plane runs. */
  readonly node?: string;
}

/** Those of the newest minor, which most tests use. */
export const ownMinor: MinorFolders = {
  kubernetes: 'kubernetes',
  etcd: 'etcd',
  konnectivity: 'konnectivity',
  coredns: 'coredns',
  restores: true,
};

/** Those of other minors, built only by the tests that need them. */
export const furtherMinors: Readonly<Record<string, MinorFolders>> = {
  '1.35': {
    kubernetes: 'kubernetes-1.35',
    etcd: 'etcd-1.35',
    konnectivity: 'konnectivity-1.35',
    coredns: 'coredns-1.35',
  },
  '1.36': {
    ...ownMinor,
    kubernetes: 'kubernetes-1.36',
    etcd: 'etcd-1.36',
    coredns: 'coredns-1.36',
    lastEtcd: 'etcd-3.6',
  },
};

/** Those of minors and patch releases that only the soak tests run. */
export const soakMinors: Readonly<Record<string, MinorFolders>> = {
  '1.33': {
    kubernetes: 'kubernetes-1.33',
    etcd: 'etcd-1.33',
    konnectivity: 'konnectivity-1.35',
    coredns: 'coredns-1.33',
    lastEtcd: 'etcd-3.5',
  },
  '1.34': {
    kubernetes: 'kubernetes-1.34',
    etcd: 'etcd-1.34',
    konnectivity: 'konnectivity-1.35',
    coredns: 'coredns-1.34',
  },
  '1.36.3': {
    ...ownMinor,
    kubernetes: 'kubernetes-1.36.3',
    etcd: 'etcd-1.36',
    coredns: 'coredns-1.36',
    node: 'kubernetes-1.36',
  },
};

/** All that {@link ownMinor} is not. */
export const pinnedMinors: Readonly<Record<string, MinorFolders>> = { ...furtherMinors, ...soakMinors };

/**
 * What a minor does not share with the newest one. Of two families with a program of one name, the later one's is used.
 * @param serversOnly for a control plane without nodes, with the etcd of the newest minor
 */
export function familiesOf(minor: MinorFolders, { serversOnly = false } = {}): Family[] {
  const { node } = minor;
  if (serversOnly) return [kubernetes(minor.kubernetes, serverBinaries)];
  const candidates = [
    ...(node === undefined ? [] : [kubernetes(node, serverBinaries), nodesOf(node)]),
    kubernetes(minor.kubernetes, serverBinaries),
    nodesOf(minor.kubernetes, node === undefined ? nodeBinaries : ['kube-proxy']),
    { name: minor.etcd, module: etcdModule, binaries: { etcd: etcdModule, ...(minor.restores && { etcdutl }) } },
    { ...konnectivity, name: minor.konnectivity },
    { ...coredns, name: minor.coredns, main: coredns.name },
    ...furtherEtcd.filter(({ name }) => name === minor.lastEtcd),
  ];
  return candidates.filter(({ name }) => families.every((family) => family.name !== name));
}

/** Built only by the tests that need them: etcd in the minors before the default one. */
export const furtherEtcd: readonly Family[] = ['etcd-3.5', 'etcd-3.6'].map((name) => ({
  name,
  module: etcdModule,
  binaries: { [name]: etcdModule },
}));

/** Built only for users of an object store: an S3 server whose own main package has only a directory as its store. */
export const objectStore: Family = {
  name: 'versitygw',
  module: 'github.com/versity/versitygw',
  binaries: { versitygw: 'testbed.local/versitygw' },
  tags: sharedTags,
};

/**
 * Built only by the tests that need it: cert-manager's own controllers of the CA and SelfSigned issuers; its module has the CRDs.
 */
export const certManager: Family = {
  name: 'cert-manager',
  module: 'github.com/cert-manager/cert-manager',
  binaries: { 'cert-manager': 'testbed.local/cert-manager' },
  tags: sharedTags,
};

/** Built only by the test of the oldest platform: Cluster API before it moved its manager to another folder. */
export const oldestClusterApi: Family = {
  name: 'cluster-api-1.13',
  module: clusterApiModule,
  binaries: { 'capi-core': clusterApiModule },
  variables: clusterApiVariables,
};

/** Read for its CRDs only, by the test of the oldest platform. */
export const oldestGatewayApi: Family = { name: 'gateway-api-1.5', module: 'sigs.k8s.io/gateway-api', binaries: {} };

/** Built only by the tests of autoscaling. */
export const metricsServer: Family = {
  name: 'metrics-server',
  module: 'sigs.k8s.io/metrics-server',
  binaries: { 'metrics-server': 'sigs.k8s.io/metrics-server/cmd/metrics-server' },
};

/** Built only by the test of traces: a collector of OpenTelemetry with one receiver and one exporter. */
export const otelCollector: Family = {
  name: 'otel-collector',
  module: 'go.opentelemetry.io/collector/otelcol',
  binaries: { 'otel-collector': 'testbed.local/otel-collector' },
};

/** Built only by the test of network policies that are enforced: the bridge of all other tests enforces none. */
export const kubeRouter: Family = {
  name: 'kube-router',
  module: 'github.com/cloudnativelabs/kube-router/v2',
  binaries: { 'kube-router': 'github.com/cloudnativelabs/kube-router/v2/cmd/kube-router' },
};

/** Built only by the tests of charts. */
export const helm: Family = {
  name: 'helm',
  module: 'helm.sh/helm/v3',
  binaries: { helm: 'helm.sh/helm/v3/cmd/helm' },
  tags: sharedTags,
};

const lastMinor = furtherMinors['1.36'] ?? ownMinor;

/** What files of `npm test` need beyond {@link families}: an upgrade from the minor before, an issuer, and an object store. */
export const pushFamilies: readonly Family[] = [
  ...familiesOf(lastMinor, { serversOnly: true }),
  certManager,
  objectStore,
];

/** All that is not in {@link families}: what only some files need. */
export const furtherFamilies: readonly Family[] = [
  ...pushFamilies,
  ...Object.values(pinnedMinors).flatMap((minor) => familiesOf(minor)),
  ...furtherEtcd,
  oldestClusterApi,
  metricsServer,
  otelCollector,
  kubeRouter,
  helm,
];

/**
 * What stands beside that which is under test, and shares the versions of its libraries: see {@link goDirectory}. What only soak tests
 * run is too old for them.
 */
export const bystanders: readonly Family[] = [
  ...families.filter(({ name }) => ['coredns', 'cluster-api', 'traefik'].includes(name)),
  ...Object.values(furtherMinors).flatMap((minor) => familiesOf(minor).filter(({ main }) => main === coredns.name)),
  objectStore,
  certManager,
  helm,
];

/** Version of a module as the family's go.mod pins it, such as `v3.6.8`. */
export async function pinnedVersion(familyName: string, module: string): Promise<string> {
  const path = join(goDirectory, familyName, 'go.mod');
  for (const line of (await readFile(path, 'utf8')).split('\n')) {
    const [name, version] = line
      .replace(/^require /, '')
      .trim()
      .split(' ');
    if (name === module && version?.startsWith('v')) return version;
  }
  throw new Error(`${path} requires no ${module}`);
}

/** What tells a family, or a part of it, from all others. */
export function familyId({ name, part }: Family): string {
  return part === undefined ? name : `${name}/${part}`;
}

function nodesOf(name: string, programs: readonly string[] = nodeBinaries): Family {
  return { ...kubernetes(name, programs), part: 'nodes' };
}

function kubernetes(name: string, programs: readonly string[]): Family {
  return {
    name,
    module: 'k8s.io/kubernetes',
    binaries: Object.fromEntries(programs.map((program) => [program, `k8s.io/kubernetes/cmd/${program}`])),
    tags: sharedTags,
    variables: kubernetesVariables,
  };
}

/**
 * Without these /version, and so every check of version skew, would be wrong; the commit and date are fixed to keep builds equal.
 */
function kubernetesVariables(version: string): Record<string, string> {
  const [major = '', minor = ''] = version.slice(1).split('.');
  const variables = {
    gitVersion: version,
    gitMajor: major,
    gitMinor: minor,
    gitCommit: '0'.repeat(40),
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
  };
  return {
    ...prefixed('k8s.io/component-base/version', variables),
    ...prefixed('k8s.io/client-go/pkg/version', variables),
  };
}

function clusterApiVariables(version: string): Record<string, string> {
  const [major = '', minor = ''] = version.slice(1).split('.');
  return prefixed(`${clusterApiModule}/version`, { gitVersion: version, gitMajor: major, gitMinor: minor });
}

function prefixed(goPackage: string, variables: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).map(([name, value]) => [`${goPackage}.${name}`, value]));
}
