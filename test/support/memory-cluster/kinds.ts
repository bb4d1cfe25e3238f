import { CustomResourceDefinition, definitionName, groupOf, versionOf } from '../../../constructs/api/resources.ts';
import type { KubeObject, ObjectName } from '../../../reconciler/kube/object.ts';

interface Kind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Built-in kinds whose status is a subresource. */
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

/** Built-in kinds that count changes of their spec in the generation. */
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

/** Groups whose names look built in but whose kinds are custom resources. */
const projects = ['gateway.networking.k8s.io'];

export function isBuiltIn({ apiVersion }: Pick<Kind, 'apiVersion'>): boolean {
  const group = groupOf({ apiVersion });
  return !group.includes('.') || (/(^|\.)k8s\.io$/.test(group) && !isProject(group));
}

function isProject(group: string): boolean {
  return projects.includes(group) || group.endsWith('.x-k8s.io');
}

/** Finds an object of another kind, such as a CustomResourceDefinition. */
export type Find = (kind: Kind, name: ObjectName) => KubeObject | undefined;

interface Definition extends KubeObject {
  readonly spec?: {
    readonly versions?: readonly {
      readonly name: string;
      readonly served?: boolean;
      readonly subresources?: { readonly status?: object };
      readonly schema?: {
        readonly openAPIV3Schema?: { readonly properties?: { readonly status?: { readonly default?: object } } };
      };
    }[];
  };
}

/** What a CustomResourceDefinition declares for one version of its kind. */
function versionIn(resource: Kind & { readonly plural: string; readonly namespaced: boolean }, find: Find) {
  const definition: Definition | undefined = find(CustomResourceDefinition, { name: definitionName(resource) });
  return definition?.spec?.versions?.find(({ name, served }) => served && name === versionOf(resource));
}

/** Whether the resource is served in this version. */
export function isServed(resource: Parameters<typeof versionIn>[0], find: Find): boolean {
  return isBuiltIn(resource) || versionIn(resource, find) !== undefined;
}

/** Whether the status is a subresource. */
export function hasStatus(resource: Parameters<typeof versionIn>[0], find: Find): boolean {
  if (isBuiltIn(resource)) return withStatus.includes(resource.kind);
  return versionIn(resource, find)?.subresources?.status !== undefined;
}

/** The status of an object that no one has reported on; undefined for none. */
export function firstStatus(resource: Parameters<typeof versionIn>[0], find: Find): object | undefined {
  return versionIn(resource, find)?.schema?.openAPIV3Schema?.properties?.status?.default;
}

/** Whether changes of the spec are counted in the generation. */
export function hasGeneration(resource: Kind): boolean {
  return !isBuiltIn(resource) || withGeneration.includes(resource.kind);
}
