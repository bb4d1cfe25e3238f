import {
  CiliumNetworkPolicy,
  ConfigMap,
  Deployment,
  NetworkPolicy,
  PodDisruptionBudget,
  type Resource,
  Secret,
  StatefulSet,
  TLSRoute,
} from '../../constructs/api/resources.ts';
import type { NamedObject, OtherControlPlane } from './other-control-plane.ts';
import { Certificate, Issuer } from './resources.ts';

/** CAs, whose Certificates, Issuers, and Secrets have one name, and whose bundles have another. */
const cas = ['ca', 'etcd-ca', 'front-proxy-ca'];

/** Certificates with Secrets of the same name. */
const leaves = [
  'apiserver',
  'apiserver-kubelet-client',
  'front-proxy',
  'service-account',
  'admin',
  'controller-manager',
  'scheduler',
  'konnectivity-client',
  'control-plane-controller',
  'etcd-server',
  'etcd-peer',
  'etcd-apiserver-client',
  'etcd-controller-client',
];

const kubeconfigs = [
  'kubeconfig',
  'kube-controller-manager-kubeconfig',
  'kube-scheduler-kubeconfig',
  'konnectivity-client-kubeconfig',
  'control-plane-controller-kubeconfig',
];

/**
 * A control plane of teutonet's cluster-api-provider-hosted-control-plane, which has the group and kind of this
 * provider. cert-manager issues its certificates; the CAs of etcd and of the front proxy are intermediates of the
 * cluster's, which only its own parts know.
 */
export function teutonetControlPlane(cluster: string): OtherControlPlane {
  const named = (resource: Resource, suffixes: readonly string[]): NamedObject[] =>
    suffixes.map((suffix) => ({ resource, name: `${cluster}-${suffix}` }));
  const servers = named(Deployment, ['api-server', 'controller-manager', 'scheduler']);
  const [set = { resource: StatefulSet, name: '' }] = named(StatefulSet, ['etcd']);
  const workloads = [...servers, set];
  const sameName = (resource: Resource): NamedObject[] => workloads.map(({ name }) => ({ resource, name }));
  const pair = { certificate: 'tls.crt', key: 'tls.key' };
  return {
    provider: 'teutonet',
    name: cluster,
    servers,
    etcd: {
      set,
      claimTemplate: 'etcd-data',
      ca: { secret: `${cluster}-etcd-ca-bundle`, key: 'ca.crt' },
      client: { secret: `${cluster}-etcd-controller-client`, ...pair },
    },
    clusterCA: { secret: `${cluster}-ca`, ...pair },
    trusted: { secret: `${cluster}-ca-bundle`, key: 'ca.crt' },
    serviceAccountKey: { secret: `${cluster}-service-account`, key: 'tls.key' },
    issuer: 'https://kubernetes.default.svc',
    leftovers: [
      // First: cert-manager creates Secrets again as long as their Certificates exist.
      ...named(Certificate, [...cas, ...leaves]),
      ...named(Issuer, ['root', ...cas]),
      ...workloads,
      ...[PodDisruptionBudget, NetworkPolicy, CiliumNetworkPolicy].flatMap(sameName),
      { resource: TLSRoute, name: cluster },
      ...named(TLSRoute, ['konnectivity']),
      ...named(ConfigMap, ['konnectivity', 'authentication']),
      ...named(Secret, [...cas, ...cas.map((ca) => `${ca}-bundle`), ...leaves, ...kubeconfigs, 'audit-webhook']),
    ],
    notCarriedOver: [
      `the kubeconfigs of the other provider: Secret ${cluster}-kubeconfig gets a new one`,
      `the load balancer of Service s-${cluster}, unless the spec has inClusterAccess: LoadBalancer or exposure.loadBalancer`,
      'the certificates of cert-manager: the operator issues its own',
    ],
  };
}
