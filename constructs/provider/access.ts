import type { Access, Verb } from '../cluster/access-rules.ts';
import { HostedControlPlaneSpec } from '../api/hosted-control-plane.ts';
import { kubeconfigSigner } from '../api/kubeconfig-request.ts';
import {
  apiServerSlice,
  CertificateRequest,
  CertificateSigningRequest,
  Cluster,
  ConfigMap,
  createdOnce,
  CustomResourceDefinition,
  definitionName,
  EndpointSlice,
  Event,
  HostedControlPlane,
  HostedControlPlaneComponentTemplate,
  Lease,
  Machine,
  MachineDeployment,
  MachinePool,
  MachineSet,
  Namespace,
  optionalResources,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  type Resource,
  resourceOf,
  ResourceQuota,
  Secret,
  Service,
  ServiceCIDR,
  Signer,
  SubjectAccessReview,
  TokenReview,
} from '../api/resources.ts';
import { renderControlPlane } from '../control-plane/chart.ts';
import { networkOf } from '../cluster/cluster.ts';

/** Server-side apply is a patch, and also a create when the object does not exist. */
const managedVerbs: readonly Verb[] = ['list', 'watch', 'create', 'patch', 'delete'];

const hosts = { apiHost: 'api.example.org', konnectivityHost: 'konnectivity.example.org' };

/** Together they are rendered to every kind. */
const exposures: readonly unknown[] = [
  { loadBalancer: {} },
  { gateway: { namespace: 'any', name: 'any' } },
  { ingress: { ...hosts, controller: 'haproxy' } },
  { ingress: { ...hosts, controller: 'traefik' } },
];

/** Every kind that the control plane chart renders, in its preferred version. RBAC does not depend on versions. */
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

/** The infrastructure of a Cluster, of any kind: infrastructure providers define the kinds. */
const Infrastructure: Resource = {
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta2',
  kind: '*',
  plural: '*',
  namespaced: true,
};

const { Gateway, TLSRoute, ...ownOptional } = optionalResources;
const optional = Object.values(optionalResources).flat();

const reading = (resources: readonly Resource[], why: string): Access[] =>
  resources.map((resource) => ({ resource, verbs: ['list', 'watch'], why }));

/**
 * Permissions in the namespaces of control planes, for objects that no chart renders, and additional ones for objects
 * that a chart renders.
 */
const furtherAccess: readonly Access[] = [
  { resource: HostedControlPlane, verbs: ['list', 'watch'], why: 'the objects that the operator reconciles' },
  { resource: HostedControlPlane, verbs: ['patch'], why: 'finalizer, endpoint, and that etcd was formed' },
  { resource: HostedControlPlane, subresource: 'status', verbs: ['patch'], why: 'writing the status' },
  {
    resource: HostedControlPlane,
    subresource: 'finalizers',
    verbs: ['update'],
    why: 'owner references that block deletion, where the management cluster enforces that permission',
  },
  {
    resource: HostedControlPlaneComponentTemplate,
    verbs: ['list', 'watch'],
    why: 'settings that control planes share',
  },
  { resource: Cluster, verbs: ['list', 'watch'], why: 'the owner: network, endpoint, pause' },
  { resource: Machine, verbs: ['list'], why: 'the operator deletes a control plane only after its workers' },
  {
    resource: MachineDeployment,
    verbs: ['list', 'patch'],
    why: 'replacing their Machines after a rotation of the cluster CA, and deleting a control plane only after its workers',
  },
  { resource: MachineSet, verbs: ['list'], why: 'the operator deletes a control plane only after its workers' },
  {
    resource: MachinePool,
    verbs: ['list', 'patch'],
    why: 'annotating their templates with the cluster CA after its rotation, and deleting a control plane only after its workers',
  },
  { resource: Secret, verbs: managedVerbs, why: 'certificates and kubeconfigs, which no chart may contain' },
  {
    resource: Secret,
    verbs: ['get'],
    why: "users' own CAs, mounts and backup stores, which have no label to watch by",
  },
  {
    resource: ConfigMap,
    verbs: ['get', 'list', 'watch'],
    why: "users' mounts, each watched by its name, because they have no label to watch by",
  },
  { resource: Pod, verbs: ['list', 'watch'], why: 'observing what runs' },
  { resource: Pod, verbs: ['delete'], why: 'replacing etcd members one at a time, when the others are healthy' },
  {
    resource: Pod,
    verbs: ['patch'],
    why: 'a change of the pod makes the kubelet update its mounted Secrets immediately',
  },
  {
    resource: PersistentVolumeClaim,
    verbs: ['list', 'watch', 'patch', 'delete'],
    why: 'etcd volumes, which outlive their StatefulSet, are expanded, and are annotated with their member',
  },
  ...reading(Object.values(ownOptional).flat(), 'observing these objects of control planes'),
  {
    resource: CertificateRequest,
    verbs: ['create', 'delete'],
    why: 'CAs that an issuer of cert-manager signs, when certificates.issuerRef names one',
  },
  {
    resource: Infrastructure,
    verbs: ['get', 'patch'],
    why: 'writing the endpoint to infrastructure objects without one; kinds of another API group need your own ClusterRole with these permissions',
  },
  ...createdOnce.map((resource): Access => ({
    resource,
    verbs: ['get'],
    why: 'reading what exists already instead of creating it, as a restore does with volumes',
  })),
  {
    resource: Event,
    verbs: ['list'],
    why: 'what kubelets and controllers say of a pod or StatefulSet that says nothing itself',
  },
  { resource: ResourceQuota, verbs: ['list'], why: 'whether all pods of a restore fit at the same time' },
  { resource: Event, verbs: ['create', 'patch'], why: 'reporting to users, and counting what happens again' },
];

/** Permissions in the namespaces of control planes. */
export function controlPlaneAccess(): Access[] {
  const rendered = renderedResources().map((resource) => ({
    resource,
    verbs: managedVerbs,
    why: 'an object of control planes that their charts render',
  }));
  return [...rendered, ...furtherAccess];
}

let rightsInNamespaces: readonly Access[] | undefined;

/**
 * What the operator may do with existing objects of these kinds in namespaces of control planes. Its caches list and watch all
 * the time, and show that they may.
 */
export function rightsFor(kinds: readonly Resource[]): (readonly [Verb, Resource])[] {
  rightsInNamespaces ??= controlPlaneAccess();
  const rights = rightsInNamespaces.filter(({ subresource }) => subresource === undefined);
  return kinds.flatMap((kind) => {
    const verbs = new Set(rights.flatMap(({ resource, verbs: granted }) => (resource === kind ? granted : [])));
    return (['get', 'patch', 'delete'] as const).flatMap((verb) => (verbs.has(verb) ? [[verb, kind] as const] : []));
  });
}

/**
 * Permissions beyond the namespaces of control planes: objects of the whole cluster, and what control planes share.
 * @param namespace the only one of control planes; all when unset
 */
export function sharedAccess(namespace?: string): Access[] {
  return [
    { resource: PersistentVolume, verbs: ['get'], why: 'finding the nodes of a volume whose pod cannot be scheduled' },
    {
      resource: Node,
      verbs: ['list', 'watch'],
      why: 'checking whether those nodes still exist; their addresses and the networks of their pods, to which no control plane may connect',
    },
    {
      resource: ServiceCIDR,
      verbs: ['list', 'watch'],
      why: 'the networks of Services, to which no control plane may connect',
    },
    ...reading(Gateway, 'a control plane may use a Gateway of any namespace'),
    ...reading(TLSRoute, 'a route of any namespace may have taken a host name'),
    {
      resource: CustomResourceDefinition,
      names: optional.map(definitionName),
      verbs: ['list', 'watch'],
      why: 'checking whether those APIs are installed, and in which version',
    },
    {
      resource: EndpointSlice,
      names: [apiServerSlice],
      verbs: ['list', 'watch'],
      why: 'the addresses of the management API servers, to which no control plane may connect',
    },
    {
      resource: CustomResourceDefinition,
      verbs: ['get'],
      why: 'finding the version in which to write to infrastructure objects',
    },
    {
      resource: Namespace,
      ...(namespace !== undefined && { names: [namespace] }),
      verbs: ['list', 'watch'],
      why: 'a listener of a Gateway may allow routes by the labels of their namespace',
    },
    { resource: TokenReview, verbs: ['create'], why: 'authenticating the readers of metrics at --secure-metrics-port' },
    {
      resource: SubjectAccessReview,
      verbs: ['create'],
      why: 'whether that user may read them, and whether the requester of a kubeconfig may have it',
    },
    {
      resource: CertificateSigningRequest,
      verbs: ['list', 'watch'],
      why: 'requests for kubeconfigs of hosted clusters',
    },
    {
      resource: CertificateSigningRequest,
      subresource: 'approval',
      verbs: ['patch'],
      why: 'approving or denying these requests, and no others',
    },
    {
      resource: CertificateSigningRequest,
      subresource: 'status',
      verbs: ['patch'],
      why: 'writing the certificates of these requests, and of no others',
    },
    {
      resource: Signer,
      names: [kubeconfigSigner],
      verbs: ['approve', 'sign'],
      why: 'being the signer of these requests, and of no others',
    },
    {
      resource: Service,
      verbs: ['list'],
      why: 'finding the DNS of the cluster by its address, the only one that control planes may ask',
    },
  ];
}

/** Permissions of the operator in the management cluster, apart from its own namespace. */
export function managerAccess(): Access[] {
  return [...controlPlaneAccess(), ...sharedAccess()];
}

/** Permissions of the operator in its own namespace only. */
export const ownNamespaceAccess: readonly Access[] = [
  { resource: Lease, verbs: ['get', 'create', 'patch'], why: 'leader election' },
  { resource: Pod, verbs: ['get'], why: 'reading its own image, for pods that restore backups' },
];
