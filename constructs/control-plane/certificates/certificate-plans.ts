import { type HostedCluster, kubernetesServiceAddresses } from '../../cluster/cluster.ts';
import type { Endpoint } from '../../cluster/facts.ts';
import { usesTunnel } from '../../cluster/in-cluster-access.ts';
import type { Kubeconfigs } from '../../api/kubeconfig-spec.ts';
import { declaredKubeconfig, etcdMemberHost, namesOf } from '../../cluster/names.ts';
import { users } from '../../cluster/workload-identities.ts';

/** The three CAs. They are independent: etcd trusts only its own CA, and so does request-header authentication. */
export type CAName = 'cluster' | 'etcd' | 'proxy';

export interface CAPlan {
  readonly ca: CAName;
  readonly secret: string;
  readonly commonName: string;
  /** How many CAs may be below it. Unset for the cluster CA, which signs its successors while it is replaced. */
  readonly pathLength?: 0;
}

export type Usage = 'server' | 'client';

/** One certificate that must exist, and its content. */
export interface CertificatePlan {
  /** Name of the Secret that holds it. */
  readonly secret: string;
  readonly signer: CAName;
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly usages: readonly Usage[];
  /** Names and addresses that it is valid for; empty for clients. */
  readonly hosts: readonly string[];
}

export function planCAs(cluster: string): CAPlan[] {
  const { secrets } = namesOf(cluster);
  return [
    { ca: 'cluster', secret: secrets.clusterCA, commonName: 'kubernetes' },
    { ca: 'etcd', secret: secrets.etcdCA, commonName: 'etcd-ca', pathLength: 0 },
    { ca: 'proxy', secret: secrets.frontProxyCA, commonName: 'front-proxy-ca', pathLength: 0 },
  ];
}

/**
 * Maximum number of etcd members. Certificates contain the names of all of them, so that scaling reissues no
 * certificate.
 */
const maxEtcdMembers = 5;

/**
 * The certificates of etcd and of its two clients. They do not depend on the endpoint: etcd starts before the endpoint
 * is known.
 */
export function planEtcdCertificates(cluster: HostedCluster): CertificatePlan[] {
  const names = namesOf(cluster.name);
  const members = Array.from({ length: maxEtcdMembers }, (_, ordinal) => etcdMemberHost(cluster, ordinal));
  return [
    member(names.secrets.etcdServer, 'etcd-server', [
      'localhost',
      '127.0.0.1',
      '::1',
      ...members,
      `${names.etcdClientService}.${cluster.namespace}.svc`,
    ]),
    member(names.secrets.etcdPeer, 'etcd-peer', members),
    client('etcd', names.secrets.apiServerEtcdClient, 'apiserver-etcd-client'),
    client('etcd', names.secrets.etcdController, 'hosted-control-plane-controller'),
  ];
}

/**
 * Every other certificate of a hosted control plane that has its own Secret.
 * @param tunnelEndpoint endpoint of the tunnel. The certificate of the tunnel is planned only if the spec uses one.
 */
export function planCertificates(
  cluster: HostedCluster,
  endpoint: Endpoint,
  konnectivityEndpoint: Endpoint,
  tunnelEndpoint?: Endpoint,
): CertificatePlan[] {
  const { secrets } = namesOf(cluster.name);
  return [
    server(secrets.apiServer, 'kube-apiserver', [
      ...apiServerHosts(cluster),
      endpoint.host,
      ...(cluster.spec.apiServer.certSANs ?? []),
    ]),
    server(secrets.konnectivityServer, 'konnectivity-server', [konnectivityEndpoint.host, apiServiceHost(cluster)]),
    ...(tunnelEndpoint && usesTunnel(cluster.spec) ? [server(secrets.tunnel, 'tunnel', [tunnelEndpoint.host])] : []),
    client('cluster', secrets.apiServerKubeletClient, users.kubeletClient),
    client('proxy', secrets.frontProxyClient, 'front-proxy-client'),
    client('cluster', secrets.konnectivityClient, users.konnectivityServer),
    client('cluster', secrets.controllerManager, 'system:kube-controller-manager'),
    client('cluster', secrets.scheduler, 'system:kube-scheduler'),
    client('cluster', secrets.controller, users.controller),
  ];
}

/** The break-glass administrator in the kubeconfig that Cluster API uses: the only user in `system:masters`. */
export function adminPlan(cluster: string): CertificatePlan {
  return client('cluster', namesOf(cluster).secrets.kubeconfig, 'kubernetes-admin', ['system:masters']);
}

/** The user of a kubeconfig that the spec declares. */
export function declaredPlan(cluster: string, { name, user, groups = [] }: Kubeconfigs[number]): CertificatePlan {
  return client('cluster', declaredKubeconfig(cluster, name), user, groups);
}

/**
 * The API server's name in the management cluster, which in-cluster clients verify independent of the address they
 * connect to.
 */
export function apiServiceHost(cluster: { readonly name: string; readonly namespace: string }): string {
  return `${namesOf(cluster.name).apiService}.${cluster.namespace}.svc`;
}

function apiServerHosts(cluster: HostedCluster): string[] {
  return [
    'localhost',
    '127.0.0.1',
    '::1',
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    `kubernetes.default.svc.${cluster.network.serviceDomain}`,
    ...kubernetesServiceAddresses(cluster.network),
    namesOf(cluster.name).apiService,
    apiServiceHost(cluster),
  ];
}

/** The cluster CA, which workers trust, signs all serving certificates for workers. */
function server(secret: string, commonName: string, hosts: readonly string[]): CertificatePlan {
  return { secret, signer: 'cluster', commonName, organizations: [], usages: ['server'], hosts: unique(hosts) };
}

function client(
  signer: CAName,
  secret: string,
  commonName: string,
  organizations: readonly string[] = [],
): CertificatePlan {
  return { secret, signer, commonName, organizations, usages: ['client'], hosts: [] };
}

/** Members of etcd are servers, and clients of each other. */
function member(secret: string, commonName: string, hosts: readonly string[]): CertificatePlan {
  return { secret, signer: 'etcd', commonName, organizations: [], usages: ['server', 'client'], hosts };
}

function unique(hosts: readonly string[]): string[] {
  return [...new Set(hosts)];
}
