import type { CustomResourceDefinitionObject, JSONSchemaProps } from '../../../../imports/kubernetes.ts';
import type { Resource } from '../../../../constructs/api/resources.ts';
import { compareApiVersions } from '../../../kube/api-version.ts';

/** How to write the endpoint to an infrastructure kind. */
export interface InfrastructureKind {
  readonly resource: Resource;
  /** Whether objects of the kind have an endpoint field. */
  readonly hasEndpoint: boolean;
}

/** Labels of a definition that list the versions for each contract of Cluster API, the newer contract first. */
const contracts = ['cluster.x-k8s.io/v1beta2', 'cluster.x-k8s.io/v1beta1'];

/**
 * The name of the definition of a kind, as Cluster API computes it. By contract, infrastructure kinds end in Cluster.
 */
export function infrastructureDefinitionName({ apiGroup, kind }: { apiGroup: string; kind: string }): string {
  return `${plural(kind.toLowerCase())}.${apiGroup}`;
}

function plural(noun: string): string {
  if (/[^aeiou]y$/.test(noun)) return `${noun.slice(0, -1)}ies`;
  return /(s|x|z|ch|sh)$/.test(noun) ? `${noun}es` : `${noun}s`;
}

/**
 * The newest version of a definition for the newest contract that the operator supports; undefined when it has none.
 */
export function contractKind({ metadata, spec = {} }: CustomResourceDefinitionObject): InfrastructureKind | undefined {
  for (const contract of contracts) {
    const listed = metadata.labels?.[contract]?.split('_') ?? [];
    const [version] = (spec.versions ?? [])
      .flatMap(({ name = '', served, schema }) => (served && listed.includes(name) ? [{ name, schema }] : []))
      .sort((a, b) => compareApiVersions(a.name, b.name));
    if (!version) continue;
    const { kind = '', plural: name = '' } = spec.names ?? {};
    const resource = { apiVersion: `${spec.group}/${version.name}`, kind, plural: name, namespaced: true };
    return { resource, hasEndpoint: takesEndpoint(version.schema?.openAPIV3Schema) };
  }
  return undefined;
}

function takesEndpoint(schema: JSONSchemaProps = {}): boolean {
  const spec = schema.properties?.['spec'];
  if (!spec) return takesAnything(schema);
  return spec.properties?.['controlPlaneEndpoint'] !== undefined || takesAnything(spec);
}

function takesAnything(schema: JSONSchemaProps): boolean {
  return schema['x-kubernetes-preserve-unknown-fields'] === true;
}
