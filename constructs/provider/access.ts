import type { Access, Verb } from '../cluster/access-rules.ts';
import { HostedControlPlaneSpec } from '../api/hosted-control-plane.ts';
import {
  CertificateRequest,
  Cluster,
  ConfigMap,
  CustomResourceDefinition,
  definitionName,
  Event,
  HostedControlPlane,
  Lease,
  Machine,
  MachineDeployment,
  MachinePool,
  Namespace,
  optionalResources,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  type Resource,
  resourceOf,
  Secret,
  ServiceAccount,
} from '../api/resources.ts';
import { renderControlPlane } from '../control-plane/chart.ts';
import { networkOf } from '../cluster/cluster.ts';

/** Server-side apply is a patch, and a create where there is no object yet. */
const lookedAfter: readonly Verb[] = ['list', 'watch', 'create', 'patch', 'delete'];

const hosts = { apiHost: 'api.example.org', konnectivityHost: 'konnectivity.example.org' };

/** Between them they are rendered to every kind there is. */
const exposures: readonly unknown[] = [
  { loadBalancer: {} },
  { gateway: { namespace: 'any', name: 'any' } },
  { ingress: { ...hosts, controller: 'haproxy' } },
  { ingress: { ...hosts, controller: 'traefik' } },
];

/** Every kind that the control-plane chart renders, in the version that is preferred; rights know no versions. */
export function renderedResources(): Resource[] {
  const facts = {
    endpoint: { host: 'any.example.org', port: 6443 },
    gatewayListener: 'any',
    tlsRouteVersion: 'v1',
    certificates: {},
    mounts: {},
    etcdRestore: { run: 'any', sizeBytes: 1, sha256: 'any', revisionBump: 1, operatorImage: 'any' },
    etcdVerify: { run: 'any', sizeBytes: 1, sha256: 'any', operatorImage: 'any' },
  };
  const objects = exposures.flatMap((exposure) => {
    const spec = HostedControlPlaneSpec.parse({ version: 'v1.36.0', exposure });
    const cluster = { name: 'any', namespace: 'any', network: networkOf(undefined), spec };
    return [false, true].flatMap((ciliumServed) => renderControlPlane(cluster, { ...facts, ciliumServed }));
  });
  return [...new Set(objects.map(resourceOf))];
}

/** Whatever infrastructure a Cluster has: which kinds there are is the infrastructure providers' matter. */
const Infrastructure: Resource = {
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta2',
  kind: '*',
  plural: '*',
  namespaced: true,
};

const optional = Object.values(optionalResources).flat();

/** Rights on what no chart renders, and more rights on what one does. */
export const furtherAccess: readonly Access[] = [
  { resource: HostedControlPlane, verbs: ['list', 'watch'], why: 'the objects we work for' },
  { resource: HostedControlPlane, verbs: ['patch'], why: 'finalizer and endpoint' },
  { resource: HostedControlPlane, subresource: 'status', verbs: ['patch'], why: 'what we report' },
  {
    resource: HostedControlPlane,
    subresource: 'finalizers',
    verbs: ['update'],
    why: 'owner references that block deletion, where the management cluster enforces that right',
  },
  { resource: Cluster, verbs: ['list', 'watch'], why: 'the owner: network, endpoint, pause' },
  { resource: Machine, verbs: ['list'], why: 'a control plane outlives its workers' },
  {
    resource: MachineDeployment,
    verbs: ['list', 'patch'],
    why: 'their Machines are replaced when the CA of the cluster was',
  },
  { resource: MachinePool, verbs: ['list'], why: 'a control plane outlives its workers' },
  { resource: Secret, verbs: lookedAfter, why: 'certificates and kubeconfigs, which no chart may hold' },
  {
    resource: Secret,
    verbs: ['get'],
    why: "users' own authorities, mounts and stores of backups carry no label to watch by",
  },
  {
    resource: ServiceAccount,
    subresource: 'token',
    verbs: ['create'],
    why: 'signing in to a store of backups as the ServiceAccount that etcd.backup.webIdentity names',
  },
  { resource: ConfigMap, verbs: ['get'], why: "users' mounts carry no label to watch by" },
  { resource: Pod, verbs: ['list', 'watch'], why: 'what really runs' },
  { resource: Pod, verbs: ['delete'], why: 'members of etcd are replaced one at a time, when the others are well' },
  { resource: Pod, verbs: ['patch'], why: 'kubelets bring a changed Secret into a pod at once that has changed too' },
  {
    resource: PersistentVolumeClaim,
    verbs: ['list', 'watch', 'patch', 'delete'],
    why: 'etcd volumes outlive their StatefulSet, grow, and bear the mark of their member',
  },
  { resource: PersistentVolume, verbs: ['get'], why: 'on which nodes a volume lies whose pod no node takes' },
  { resource: Node, verbs: ['list'], why: 'whether any of those nodes is left' },
  ...optional.map((resource): Access => ({
    resource,
    verbs: ['list', 'watch'],
    why: 'Gateways, and routes that take a host name',
  })),
  {
    resource: CertificateRequest,
    verbs: ['create', 'delete'],
    why: 'authorities that an issuer of cert-manager signs, where certificates.issuerRef names one',
  },
  {
    resource: CustomResourceDefinition,
    names: optional.map(definitionName),
    verbs: ['list', 'watch'],
    why: 'whether those are installed, and in which version',
  },
  {
    resource: Namespace,
    verbs: ['list', 'watch'],
    why: 'a listener of a Gateway may admit routes by the labels of theirs',
  },
  { resource: CustomResourceDefinition, verbs: ['get'], why: 'in which version to write to infrastructure' },
  {
    resource: Infrastructure,
    verbs: ['get', 'patch'],
    why: 'the endpoint, where infrastructure has none; kinds of another API group need a ClusterRole of yours with these rights',
  },
  { resource: Event, verbs: ['create'], why: 'what users should read' },
];

/** Everything the operator may do in the management cluster, apart from its own namespace. */
export function managerAccess(): Access[] {
  const rendered = renderedResources().map((resource) => ({ resource, verbs: lookedAfter, why: 'rendered' }));
  return [...rendered, ...furtherAccess];
}

/** What the operator may do in its own namespace only. */
export const ownNamespaceAccess: readonly Access[] = [
  { resource: Lease, verbs: ['get', 'create', 'patch'], why: 'leader election' },
  { resource: Pod, verbs: ['get'], why: 'the image it runs, for pods that restore backups' },
];
