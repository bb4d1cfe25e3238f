import type { HostedCluster } from '../../cluster/cluster.ts';
import { exposureStrategy } from '../exposure/exposure.ts';
import { type Endpoint, type Facts, formatEndpoint } from '../../cluster/facts.ts';
import type { Flag } from '../../pod/flags.ts';
import { inClusterAccessOf, policyApiVersion } from '../../cluster/in-cluster-access.ts';
import { namesOf } from '../../cluster/names.ts';
import { ports } from '../../cluster/ports.ts';
import { tokenLifetimeFlags } from './token-lifetime.ts';

export const apiServerPaths = {
  pki: '/etc/kubernetes/pki',
  egress: '/etc/kubernetes/egress',
  encryption: '/etc/kubernetes/encryption',
  konnectivitySockets: '/run/konnectivity',
} as const;

export const egressSelectorFile = 'egress-selector-configuration.yaml';
/** The key of the Secret with the encryption configuration, and the file it becomes. */
export const encryptionConfigurationFile = 'config.yaml';
export const konnectivitySocket = `${apiServerPaths.konnectivitySockets}/konnectivity-server.sock`;

/** Every flag we set on kube-apiserver, sorted, each with its reason. */
export function apiServerFlags(
  cluster: HostedCluster,
  endpoint: Endpoint,
  { advertiseAddress, encryptionAtRest }: Pick<Facts, 'advertiseAddress' | 'encryptionAtRest'> = {},
): Flag[] {
  const { pki } = apiServerPaths;
  const names = namesOf(cluster.name);
  const issuer = `https://kubernetes.default.svc.${cluster.network.serviceDomain}`;
  return [
    ...inClusterAccessFlags(cluster, advertiseAddress),
    ['allow-privileged', 'true', 'CNI and kube-proxy pods are privileged'],
    ['authorization-mode', 'Node,RBAC', 'kubelets may read only what their own pods need'],
    ['client-ca-file', `${pki}/ca.crt`, 'reloaded when it changes'],
    [
      'egress-selector-config-file',
      `${apiServerPaths.egress}/${egressSelectorFile}`,
      'nodes are reached by konnectivity',
    ],
    ['enable-admission-plugins', 'NodeRestriction', 'a kubelet may change only its own Node and pods'],
    ['enable-bootstrap-token-auth', 'true', 'kubeadm join'],
    ...(encryptionAtRest ? encryptionFlags : []),
    ['etcd-cafile', `${pki}/etcd/ca.crt`, 'a CA of its own: nobody else holds a certificate etcd accepts'],
    ['etcd-certfile', `${pki}/apiserver-etcd-client.crt`, ''],
    ['etcd-keyfile', `${pki}/apiserver-etcd-client.key`, ''],
    [
      'etcd-servers',
      `https://${names.etcdClientService}.${cluster.namespace}.svc:${ports.etcdClient}`,
      'one Service: a change of membership restarts no API server',
    ],
    ['external-hostname', endpoint.host, 'what generated URLs say'],
    ['goaway-chance', '0.001', 'spreads long-lived HTTP/2 connections over the API servers again after a restart'],
    ...kubeletTrust(cluster),
    ['kubelet-client-certificate', `${pki}/apiserver-kubelet-client.crt`, ''],
    ['kubelet-client-key', `${pki}/apiserver-kubelet-client.key`, ''],
    ['kubelet-preferred-address-types', 'InternalIP,InternalDNS,Hostname', 'the agent resolves it inside the cluster'],
    ['profiling', 'false', 'CIS benchmark'],
    ['proxy-client-cert-file', `${pki}/front-proxy-client.crt`, ''],
    ['proxy-client-key-file', `${pki}/front-proxy-client.key`, ''],
    ['requestheader-allowed-names', 'front-proxy-client', ''],
    ['requestheader-client-ca-file', `${pki}/front-proxy-ca.crt`, 'a CA of its own: it may impersonate anybody'],
    ['requestheader-extra-headers-prefix', 'X-Remote-Extra-', ''],
    ['requestheader-group-headers', 'X-Remote-Group', ''],
    ['requestheader-username-headers', 'X-Remote-User', ''],
    ['secure-port', String(exposureStrategy(cluster.spec).securePort), 'also the port of the kubernetes Service'],
    ['service-account-issuer', issuer, "kubeadm's"],
    ['service-account-jwks-uri', `https://${formatEndpoint(endpoint)}/openid/v1/jwks`, ''],
    ['service-account-key-file', `${pki}/sa.pub`, 'every key whose tokens are accepted'],
    ...tokenLifetimeFlags(cluster.spec.deployment?.apiServer?.args),
    ['service-account-signing-key-file', `${pki}/sa.key`, ''],
    ['service-cluster-ip-range', cluster.network.services.join(','), ''],
    ['shutdown-delay-duration', '3s', 'serves until every proxy has taken the pod out of its endpoints'],
    [
      'shutdown-watch-termination-grace-period',
      '3s',
      'ends watches; without it a single open one keeps a stopping server until it is killed',
    ],
    ['tls-cert-file', `${pki}/apiserver.crt`, 'reloaded when it changes'],
    ['tls-private-key-file', `${pki}/apiserver.key`, 'reloaded when it changes'],
  ];
}

/**
 * Kubelets prove who they are by certificates of the cluster's authority, so that nobody in between reads logs or takes
 * over commands. Where kubelets serve with other ones, the user names who signs them, or nothing for anybody at all.
 */
function kubeletTrust({ spec }: HostedCluster): Flag[] {
  const flag = 'kubelet-certificate-authority';
  if (spec.deployment.apiServer.args?.[flag] !== undefined) return [];
  return [[flag, `${apiServerPaths.pki}/ca.crt`, 'logs and exec come from the right machine']];
}

const encryptionFlags: readonly Flag[] = [
  [
    'encryption-provider-config',
    `${apiServerPaths.encryption}/${encryptionConfigurationFile}`,
    'keys of the Secrets in etcd',
  ],
  ['encryption-provider-config-automatic-reload', 'true', 'a change of keys restarts nothing'],
];

/**
 * The `kubernetes` Service of the hosted cluster points at the advertised address. Only an address that workers reach
 * may go there: the API server's own choice would be its pod's, of a network the workers know nothing of.
 */
function inClusterAccessFlags(cluster: HostedCluster, advertiseAddress: string | undefined): Flag[] {
  const access = inClusterAccessOf(cluster, { advertiseAddress });
  if (access === 'LoadBalancer' && advertiseAddress) {
    return [['advertise-address', advertiseAddress, 'what pods of the hosted cluster dial']];
  }
  return [
    ['endpoint-reconciler-type', 'none', 'pods of the hosted cluster reach it by other means than an address'],
    ...(access === 'Policy' ? policyFlags(cluster.spec.version) : []),
  ];
}

/** Kubernetes 1.34 and 1.35 can mutate by policy, but only when asked to. */
function policyFlags(version: string): Flag[] {
  const api = policyApiVersion(version);
  if (api === 'v1') return [];
  return [
    ['feature-gates', 'MutatingAdmissionPolicy=true', 'on by default since 1.36'],
    ['runtime-config', `admissionregistration.k8s.io/${api}=true`, 'v1 since 1.36'],
  ];
}
