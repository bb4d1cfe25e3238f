/**
 * Every Kubernetes resource that the operator reads or writes. The API client builds its paths from this list, and the
 * RBAC of the operator is derived from it. A kind that is not listed here can be neither requested nor granted.
 */
export interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

/** Every resource that this file declares, to find the resource of a rendered object by apiVersion and kind. */
const declared: Resource[] = [];

function declare(resource: Resource): Resource {
  declared.push(resource);
  return resource;
}

const namespaced = (apiVersion: string, kind: string, plural: string): Resource =>
  declare({ apiVersion, kind, plural, namespaced: true });

const clusterWide = (apiVersion: string, kind: string, plural: string): Resource =>
  declare({ apiVersion, kind, plural, namespaced: false });

function declareAdmission(kind: string, plural: string, version: string): void {
  const apiVersion = `admissionregistration.k8s.io/${version}`;
  clusterWide(apiVersion, `${kind}AdmissionPolicy`, `${plural}admissionpolicies`);
  clusterWide(apiVersion, `${kind}AdmissionPolicyBinding`, `${plural}admissionpolicybindings`);
}

export const Secret = namespaced('v1', 'Secret', 'secrets');
export const ConfigMap = namespaced('v1', 'ConfigMap', 'configmaps');
export const Service = namespaced('v1', 'Service', 'services');
export const Pod = namespaced('v1', 'Pod', 'pods');
export const PersistentVolumeClaim = namespaced('v1', 'PersistentVolumeClaim', 'persistentvolumeclaims');
export const ResourceQuota = namespaced('v1', 'ResourceQuota', 'resourcequotas');
export const ServiceAccount = namespaced('v1', 'ServiceAccount', 'serviceaccounts');
export const PersistentVolume = clusterWide('v1', 'PersistentVolume', 'persistentvolumes');
export const Namespace = clusterWide('v1', 'Namespace', 'namespaces');
export const Node = clusterWide('v1', 'Node', 'nodes');
export const Deployment = namespaced('apps/v1', 'Deployment', 'deployments');
export const DaemonSet = namespaced('apps/v1', 'DaemonSet', 'daemonsets');
export const StatefulSet = namespaced('apps/v1', 'StatefulSet', 'statefulsets');
export const PodDisruptionBudget = namespaced('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets');
export const NetworkPolicy = namespaced('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies');
export const Role = namespaced('rbac.authorization.k8s.io/v1', 'Role', 'roles');
export const RoleBinding = namespaced('rbac.authorization.k8s.io/v1', 'RoleBinding', 'rolebindings');
export const ClusterRole = clusterWide('rbac.authorization.k8s.io/v1', 'ClusterRole', 'clusterroles');
export const ClusterRoleBinding = clusterWide(
  'rbac.authorization.k8s.io/v1',
  'ClusterRoleBinding',
  'clusterrolebindings',
);
export const CertificateSigningRequest = clusterWide(
  'certificates.k8s.io/v1',
  'CertificateSigningRequest',
  'certificatesigningrequests',
);
/** Not readable: permission to approve requests is granted on the name of their signer. */
export const Signer = clusterWide('certificates.k8s.io/v1', 'Signer', 'signers');
/** Not stored: the response contains the identity of the requester. */
export const SelfSubjectReview = clusterWide('authentication.k8s.io/v1', 'SelfSubjectReview', 'selfsubjectreviews');
/** Who a token belongs to, as an API server sees it. */
export const TokenReview = clusterWide('authentication.k8s.io/v1', 'TokenReview', 'tokenreviews');
/** Whether a user may do something, as an API server decides it. */
export const SubjectAccessReview = clusterWide(
  'authorization.k8s.io/v1',
  'SubjectAccessReview',
  'subjectaccessreviews',
);
/** The same of the one who asks. */
export const SelfSubjectAccessReview = clusterWide(
  'authorization.k8s.io/v1',
  'SelfSubjectAccessReview',
  'selfsubjectaccessreviews',
);
/** Name of the EndpointSlice in `default` in which API servers publish their own addresses, unless the operator does it for them. */
export const apiServerSlice = 'kubernetes';
/** Deprecated, and still read beside EndpointSlices. */
export const Endpoints = namespaced('v1', 'Endpoints', 'endpoints');
export const EndpointSlice = namespaced('discovery.k8s.io/v1', 'EndpointSlice', 'endpointslices');
export const Ingress = namespaced('networking.k8s.io/v1', 'Ingress', 'ingresses');
/** The networks of Services, from Kubernetes 1.33 on. */
export const ServiceCIDR = clusterWide('networking.k8s.io/v1', 'ServiceCIDR', 'servicecidrs');
export const Gateway = namespaced('gateway.networking.k8s.io/v1', 'Gateway', 'gateways');
export const TLSRoute = namespaced('gateway.networking.k8s.io/v1', 'TLSRoute', 'tlsroutes');
/**
 * Every version in which the operator can write routes, the preferred one first. A cluster serves a subset that depends
 * on the age of its Gateway API.
 */
export const tlsRoutes: readonly Resource[] = [
  TLSRoute,
  ...['v1alpha3', 'v1alpha2'].map((version) => declare({ ...TLSRoute, apiVersion: `${groupOf(TLSRoute)}/${version}` })),
];
export const IngressRouteTCP = namespaced('traefik.io/v1alpha1', 'IngressRouteTCP', 'ingressroutetcps');
export const CertificateRequest = namespaced('cert-manager.io/v1', 'CertificateRequest', 'certificaterequests');
export const CiliumNetworkPolicy = namespaced('cilium.io/v2', 'CiliumNetworkPolicy', 'ciliumnetworkpolicies');
// Rendered, and named by no other file. Mutating admission policies are v1 since Kubernetes 1.36.
for (const version of ['v1', 'v1beta1']) declareAdmission('Mutating', 'mutating', version);
declareAdmission('Validating', 'validating', 'v1');
export const Lease = namespaced('coordination.k8s.io/v1', 'Lease', 'leases');
export const Event = namespaced('events.k8s.io/v1', 'Event', 'events');
export const CustomResourceDefinition = clusterWide(
  'apiextensions.k8s.io/v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
);
export const Cluster = namespaced('cluster.x-k8s.io/v1beta2', 'Cluster', 'clusters');
export const Machine = namespaced('cluster.x-k8s.io/v1beta2', 'Machine', 'machines');
export const MachineDeployment = namespaced('cluster.x-k8s.io/v1beta2', 'MachineDeployment', 'machinedeployments');
export const MachineSet = namespaced('cluster.x-k8s.io/v1beta2', 'MachineSet', 'machinesets');
export const MachinePool = namespaced('cluster.x-k8s.io/v1beta2', 'MachinePool', 'machinepools');
export const HostedControlPlane = namespaced(
  'controlplane.cluster.x-k8s.io/v1alpha1',
  'HostedControlPlane',
  'hostedcontrolplanes',
);
export const HostedControlPlaneTemplate = namespaced(
  'controlplane.cluster.x-k8s.io/v1alpha1',
  'HostedControlPlaneTemplate',
  'hostedcontrolplanetemplates',
);

export const HostedControlPlaneComponentTemplate = namespaced(
  'controlplane.cluster.x-k8s.io/v1alpha1',
  'HostedControlPlaneComponentTemplate',
  'hostedcontrolplanecomponenttemplates',
);

/** The resource of a rendered object. Throws for a kind that is not listed, because that is a programming error. */
export function resourceOf(object: { apiVersion: string; kind: string }): Resource {
  const found = declared.find((r) => r.apiVersion === object.apiVersion && r.kind === object.kind);
  if (!found)
    throw new Error(
      `no resource is listed for ${object.apiVersion} ${object.kind}: add it to constructs/api/resources.ts`,
    );
  return found;
}

/**
 * APIs that a management cluster may or may not serve, in the versions that the operator can read and write, the
 * preferred one first.
 */
export const optionalResources = {
  Gateway: [Gateway],
  TLSRoute: tlsRoutes,
  IngressRouteTCP: [IngressRouteTCP],
  CiliumNetworkPolicy: [CiliumNetworkPolicy],
  CertificateRequest: [CertificateRequest],
} as const satisfies Readonly<Record<string, readonly Resource[]>>;
export type OptionalKind = keyof typeof optionalResources;

/**
 * Kinds of objects that the operator creates but never overwrites: an existing one is read instead, which needs the right
 * to get it.
 */
export const createdOnce: readonly Resource[] = [Secret, PersistentVolumeClaim, Pod, CertificateRequest];

/** The name of the CustomResourceDefinition of a resource. */
export function definitionName(resource: Resource): string {
  return `${resource.plural}.${groupOf(resource)}`;
}

/** The API group of a resource; empty for the core group. */
export function groupOf({ apiVersion }: Pick<Resource, 'apiVersion'>): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
}

/** The version in a resource's apiVersion. */
export function versionOf({ apiVersion }: Pick<Resource, 'apiVersion'>): string {
  return apiVersion.slice(apiVersion.indexOf('/') + 1);
}

/** A core resource by kind, as users may name it. */
export function resourceNamed(kind: 'ConfigMap' | 'Secret'): Resource {
  return kind === 'ConfigMap' ? ConfigMap : Secret;
}
