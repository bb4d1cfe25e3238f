import { auditFlags } from './audit/audit.ts';
import { authenticationFlags } from './authentication.ts';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { rendersWith } from '../../cluster/release-revisions.ts';
import { binariesVersion, emulationFlags } from '../../cluster/emulation.ts';
import { exposureStrategy } from '../exposure/exposure.ts';
import { type Endpoint, type Facts, formatEndpoint, type Issuers } from '../../cluster/facts.ts';
import { type Flag, formatFlags } from '../../pod/flags.ts';
import { servedSeconds } from '../../pod/shutdown.ts';
import { inClusterAccessOf, policyApiVersion } from '../../cluster/in-cluster-access.ts';
import { namesOf } from '../../cluster/names.ts';
import { ports } from '../../cluster/ports.ts';
import { firstIssuers } from '../../cluster/service-account-issuer.ts';
import { tokenLifetimeFlags } from './token-lifetime.ts';

export const apiServerPaths = {
  pki: '/etc/kubernetes/pki',
  egress: '/etc/kubernetes/egress',
  encryption: '/etc/kubernetes/encryption',
  konnectivitySockets: '/run/konnectivity',
} as const;

export const egressSelectorFile = 'egress-selector-configuration.yaml';
/** The key of the Secret with the encryption configuration, and the name of its file. */
export const encryptionConfigurationFile = 'config.yaml';
export const konnectivitySocket = `${apiServerPaths.konnectivitySockets}/konnectivity-server.sock`;

/** Every flag that the operator sets on kube-apiserver, sorted, with its reason. */
export function apiServerFlags(
  cluster: HostedCluster,
  endpoint: Endpoint,
  facts: Pick<Facts, 'advertiseAddress' | 'encryptionAtRest' | 'serviceAccountIssuers'> = {},
): Flag[] {
  const { pki } = apiServerPaths;
  const names = namesOf(cluster.name);
  const { advertiseAddress, encryptionAtRest } = facts;
  const [signingIssuer] = issuersOf(cluster, endpoint, facts);
  const servesWithSlowEtcd = rendersWith(cluster, 'servesWithSlowEtcd');
  return [
    ...inClusterAccessFlags(cluster, advertiseAddress),
    ['allow-privileged', 'true', 'CNI and kube-proxy pods are privileged'],
    ...auditFlags(cluster),
    ...authenticationFlags(cluster),
    ['authorization-mode', 'Node,RBAC', 'kubelets can read only the objects of their own pods', ['AlwaysAllow']],
    ['client-ca-file', `${pki}/ca.crt`, 'reloaded when it changes'],
    [
      'disable-admission-plugins',
      '',
      'the API server exits if a plugin is in both lists',
      neededPlugins(cluster, advertiseAddress),
    ],
    [
      'egress-selector-config-file',
      `${apiServerPaths.egress}/${egressSelectorFile}`,
      'the API server reaches nodes through konnectivity',
    ],
    ...emulationFlags(cluster),
    ['enable-admission-plugins', 'NodeRestriction', 'a kubelet can change only its own Node and pods'],
    ['enable-bootstrap-token-auth', 'true', 'kubeadm join'],
    ...(encryptionAtRest ? encryptionFlags : []),
    ['etcd-cafile', `${pki}/etcd/ca.crt`, 'a dedicated CA: no other client has a certificate that etcd accepts'],
    ['etcd-certfile', `${pki}/apiserver-etcd-client.crt`, ''],
    ...(servesWithSlowEtcd ? [etcdHealthTimeout] : []),
    ['etcd-keyfile', `${pki}/apiserver-etcd-client.key`, ''],
    ...(servesWithSlowEtcd ? [etcdReadinessTimeout] : []),
    [
      'etcd-servers',
      `https://${names.etcdClientService}.${cluster.namespace}.svc:${ports.etcdClient}`,
      'one Service, so that a membership change restarts no API server',
    ],
    ['external-hostname', endpoint.host, 'host in generated URLs'],
    ['goaway-chance', '0.001', 'redistributes long-lived HTTP/2 connections across the API servers after a restart'],
    ...kubeletTrust(cluster),
    ['kubelet-client-certificate', `${pki}/apiserver-kubelet-client.crt`, ''],
    ['kubelet-client-key', `${pki}/apiserver-kubelet-client.key`, ''],
    [
      'kubelet-preferred-address-types',
      rendersWith(cluster, 'reachesExternalAddresses')
        ? 'InternalIP,ExternalIP,Hostname'
        : 'InternalIP,InternalDNS,Hostname',
      'as kubeadm has it: a node may have an external address only; the konnectivity agent resolves the name inside the cluster',
    ],
    ['profiling', 'false', 'CIS benchmark'],
    ['proxy-client-cert-file', `${pki}/front-proxy-client.crt`, ''],
    ['proxy-client-key-file', `${pki}/front-proxy-client.key`, ''],
    ['requestheader-allowed-names', 'front-proxy-client', ''],
    [
      'requestheader-client-ca-file',
      `${pki}/front-proxy-ca.crt`,
      'a dedicated CA: its clients can impersonate every user',
    ],
    ['requestheader-extra-headers-prefix', 'X-Remote-Extra-', ''],
    ['requestheader-group-headers', 'X-Remote-Group', ''],
    ['requestheader-username-headers', 'X-Remote-User', ''],
    ['secure-port', String(exposureStrategy(cluster.spec).securePort), 'also the port of the kubernetes Service'],
    ['service-account-issuer', signingIssuer, 'the one that signs, before those that are only accepted'],
    [
      'service-account-jwks-uri',
      `https://${formatEndpoint(endpoint)}/openid/v1/jwks`,
      'where every issuer has its keys',
    ],
    ['service-account-key-file', `${pki}/sa.pub`, 'keys of all tokens that are accepted'],
    ...tokenLifetimeFlags(cluster.spec.deployment?.apiServer?.args),
    ['service-account-signing-key-file', `${pki}/sa.key`, ''],
    ['service-cluster-ip-range', cluster.network.services.join(','), ''],
    [
      'shutdown-delay-duration',
      `${servedSeconds}s`,
      'continues to serve until every proxy has removed the pod from its endpoints',
    ],
    [
      'shutdown-watch-termination-grace-period',
      '3s',
      'ends watches; otherwise a single open watch delays the shutdown until the kubelet kills the server',
    ],
    ['tls-cert-file', `${pki}/apiserver.crt`, 'reloaded when it changes'],
    ['tls-private-key-file', `${pki}/apiserver.key`, 'reloaded when it changes'],
  ];
}

/** Values by name as arguments, and after the issuer that signs those that are only accepted: their flag repeats. */
export function apiServerArgs(
  flags: Readonly<Record<string, string>>,
  cluster: HostedCluster,
  endpoint: Endpoint,
  facts: Pick<Facts, 'serviceAccountIssuers'>,
): string[] {
  const issuers = issuersOf(cluster, endpoint, facts).map((issuer) => `--service-account-issuer=${issuer}`);
  return formatFlags(flags).flatMap((arg) => (arg === issuers[0] ? issuers : [arg]));
}

function issuersOf(
  cluster: HostedCluster,
  endpoint: Endpoint,
  { serviceAccountIssuers }: Pick<Facts, 'serviceAccountIssuers'>,
): Issuers {
  return serviceAccountIssuers ?? firstIssuers(cluster, endpoint);
}

/** Admission plugins that the control plane depends on. */
function neededPlugins(cluster: HostedCluster, advertiseAddress: string | undefined): string[] {
  return [
    'NodeRestriction',
    // Add-ons authenticate with the tokens that it mounts.
    'ServiceAccount',
    ...(inClusterAccessOf(cluster, { advertiseAddress }) === 'Policy' ? ['MutatingAdmissionPolicy'] : []),
  ];
}

/**
 * Kubelets authenticate with certificates of the cluster CA, so that nothing between them and the API server can read
 * logs or take over commands. If kubelets have other serving certificates, the user sets their CA, or an empty value to
 * disable the verification.
 */
function kubeletTrust({ spec }: HostedCluster): Flag[] {
  const flag = 'kubelet-certificate-authority';
  if (spec.deployment.apiServer.args?.[flag] !== undefined) return [];
  return [[flag, `${apiServerPaths.pki}/ca.crt`, 'logs and exec come from the intended node']];
}

const encryptionFlags: readonly Flag[] = [
  [
    'encryption-provider-config',
    `${apiServerPaths.encryption}/${encryptionConfigurationFile}`,
    'encryption keys of Secrets in etcd',
  ],
  ['encryption-provider-config-automatic-reload', 'true', 'a change of keys restarts no API server'],
];

/**
 * `/readyz` asks etcd twice, one after the other, with this timeout each: both answers come before the timeout of the probe, 15 s. By
 * default it is 2 s. Where API servers share a slow disk or processor with etcd, the Service would lose all of them at once, and
 * refuse every new connection, although each request would have an answer, if late.
 */
const etcdTimeout = '5s';
const etcdHealthTimeout: Flag = [
  'etcd-healthcheck-timeout',
  etcdTimeout,
  'with a slow etcd API servers answer late, instead of not at all',
];
const etcdReadinessTimeout: Flag = ['etcd-readycheck-timeout', etcdTimeout, 'the second of the two checks'];

/**
 * By default an API server would put the address of its pod behind the `kubernetes` Service of the hosted cluster, in a network
 * that workers cannot reach. In the first release revision it puts the address of the load balancer there, and takes it out
 * when it stops, although other API servers still serve at it.
 */
function inClusterAccessFlags(cluster: HostedCluster, advertiseAddress: string | undefined): Flag[] {
  const access = inClusterAccessOf(cluster, { advertiseAddress });
  if (access === 'LoadBalancer' && advertiseAddress && !rendersWith(cluster, 'writesKubernetesEndpoints')) {
    return [['advertise-address', advertiseAddress, 'address to which pods of the hosted cluster connect']];
  }
  return [
    ['endpoint-reconciler-type', 'none', 'no API server writes the address behind the kubernetes Service'],
    ...(access === 'Policy' ? policyFlags(cluster) : []),
  ];
}

/** In Kubernetes 1.34 and 1.35 mutating admission policies are disabled by default. */
function policyFlags(cluster: HostedCluster): Flag[] {
  const api = policyApiVersion(cluster.spec.version);
  if (api === 'v1') return [];
  const readsOtherAPI = policyApiVersion(binariesVersion(cluster)) !== api;
  return [
    ...(readsOtherAPI ? forwardCompatible : []),
    ['feature-gates', 'MutatingAdmissionPolicy=true', 'on by default since 1.36'],
    ['runtime-config', `admissionregistration.k8s.io/${api}=true`, 'v1 since 1.36'],
  ];
}

/** An API server does not start if it emulates a minor without the API in which its binary reads the policies. */
const forwardCompatible: readonly Flag[] = [
  ['emulation-forward-compatible', 'true', 'serves v1 of the policies too; it stores what the emulated minor can read'],
];
