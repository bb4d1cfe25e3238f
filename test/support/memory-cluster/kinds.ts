import { CustomResourceDefinition, definitionName, groupOf, versionOf } from '../../../constructs/api/resources.ts';
import type { KubeObject, ObjectName } from '../../../reconciler/kube/object.ts';

interface Kind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Kinds of Kubernetes whose status is written by itself, and only by itself. */
const withStatus = [
  'Service',
  'Pod',
  'PersistentVolumeClaim',
  'PersistentVolume',
  'Namespace',
  'Node',
  'Deployment',
  'DaemonSet',
  'StatefulSet',
  'PodDisruptionBudget',
  'Ingress',
  'CertificateSigningRequest',
  'CustomResourceDefinition',
];

/** Kinds of Kubernetes that count the changes of what is wanted of them. */
const withGeneration = [
  'Pod',
  'Deployment',
  'DaemonSet',
  'StatefulSet',
  'PodDisruptionBudget',
  'NetworkPolicy',
  'Ingress',
  'EndpointSlice',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
  'CustomResourceDefinition',
];

/** Groups whose names look like Kubernetes' own and whose kinds come as definitions all the same. */
const projects = ['gateway.networking.k8s.io'];

export function isBuiltIn({ apiVersion }: Pick<Kind, 'apiVersion'>): boolean {
  const group = groupOf({ apiVersion });
  return !group.includes('.') || (/(^|\.)k8s\.io$/.test(group) && !isProject(group));
}

function isProject(group: string): boolean {
  return projects.includes(group) || group.endsWith('.x-k8s.io');
}

/** Looks an object of another kind up, such as a definition. */
export type Find = (kind: Kind, name: ObjectName) => KubeObject | undefined;

interface Definition extends KubeObject {
  readonly spec?: {
    readonly versions?: readonly {
      readonly name: string;
      readonly served?: boolean;
      readonly subresources?: { readonly status?: object };
    }[];
  };
}

/** What a definition says of one version of its kind. */
function versionIn(resource: Kind & { readonly plural: string; readonly namespaced: boolean }, find: Find) {
  const definition: Definition | undefined = find(CustomResourceDefinition, { name: definitionName(resource) });
  return definition?.spec?.versions?.find(({ name, served }) => served && name === versionOf(resource));
}

/** Whether there is such a resource, in this version. */
export function isServed(resource: Parameters<typeof versionIn>[0], find: Find): boolean {
  return isBuiltIn(resource) || versionIn(resource, find) !== undefined;
}

/** Whether its status is written by itself. */
export function hasStatus(resource: Parameters<typeof versionIn>[0], find: Find): boolean {
  if (isBuiltIn(resource)) return withStatus.includes(resource.kind);
  return versionIn(resource, find)?.subresources?.status !== undefined;
}

/** Whether a change of what is wanted of it is counted. */
export function hasGeneration(resource: Kind): boolean {
  return !isBuiltIn(resource) || withGeneration.includes(resource.kind);
}
