import type { ClusterObject } from '../../../imports/cluster-api.ts';
import type { CustomResourceDefinitionObject, JSONSchemaProps } from '../../../imports/kubernetes.ts';
import { fieldManager } from '../../../constructs/api/group.ts';
import { CustomResourceDefinition, type Resource } from '../../../constructs/api/resources.ts';
import type { Endpoint } from '../../../constructs/cluster/facts.ts';
import type { KubeClient } from '../../kube/client.ts';
import { messageOf } from '../../kube/error-message.ts';
import { isConflict, isForbidden } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { RequestCache } from '../../engine/tasks/request-cache.ts';

/** The content of a Cluster's `spec.infrastructureRef`. */
export interface InfrastructureReference {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
}

/** The complete infrastructure reference of a Cluster, if it has one. */
export function infrastructureOf({ spec }: ClusterObject): InfrastructureReference | undefined {
  const { apiGroup, kind, name } = spec?.infrastructureRef ?? {};
  return apiGroup && kind && name ? { apiGroup, kind, name } : undefined;
}

/** An object of any infrastructure provider, with or without an endpoint, as the API returns it. */
interface InfrastructureObject extends KubeObject {
  readonly spec?: { readonly controlPlaneEndpoint?: Partial<Endpoint> | undefined };
}

/** The endpoint of an infrastructure object, if it can have one. */
export interface InfrastructureEndpoint {
  readonly endpoint?: Endpoint | undefined;
}

export interface InfrastructureEndpointOptions {
  readonly client: Pick<KubeClient, 'find' | 'apply'>;
  /** Cache of requests that are the same for all Clusters. */
  readonly requestCaches: RequestCache;
  readonly namespace: string;
  readonly reference: InfrastructureReference;
}

const infrastructureManager = `${fieldManager}-infrastructure`;

/** Retries after conflicts, because the infrastructure provider writes the object too, above all when it is new. */
const attempts = 3;

/**
 * Writes the endpoint into an infrastructure object that has none, because many infrastructure providers expect another
 * component to set it.
 * @returns the endpoint that the object has now; undefined when the object does not exist
 * @throws when the operator is not allowed to, with the missing permission
 */
export async function publishToInfrastructure(
  options: InfrastructureEndpointOptions,
  endpoint: Endpoint,
): Promise<InfrastructureEndpoint | undefined> {
  const { reference, namespace } = options;
  try {
    const kind = await kindOf(options);
    if (!kind) return undefined;
    return kind.hasEndpoint ? await writeOnce(options, kind, endpoint, attempts) : {};
  } catch (cause) {
    if (!isForbidden(cause)) throw cause;
    const { apiGroup, kind, name } = reference;
    throw new Error(
      `cannot write the endpoint to ${kind} ${namespace}/${name}: bind a ClusterRole with the verbs get and patch on ${infrastructureDefinitionName({ apiGroup, kind })} to the operator's ServiceAccount: ${messageOf(cause)}`,
      { cause },
    );
  }
}

/** The definition is cached, because it is large and the same for all Clusters. */
function kindOf({
  client,
  requestCaches,
  reference,
}: InfrastructureEndpointOptions): Promise<InfrastructureKind | undefined> {
  const name = infrastructureDefinitionName(reference);
  return requestCaches.ask(`definition ${name}`, undefined, async () => {
    const definition = await client.find<CustomResourceDefinitionObject>(CustomResourceDefinition, { name });
    return definition && contractKind(definition);
  });
}

async function writeOnce(
  options: InfrastructureEndpointOptions,
  kind: InfrastructureKind,
  endpoint: Endpoint,
  attemptsLeft: number,
): Promise<InfrastructureEndpoint | undefined> {
  const { client, namespace, reference } = options;
  const { resource } = kind;
  const object = await client.find<InfrastructureObject>(resource, { namespace, name: reference.name });
  if (!object) return undefined;
  const { host, port } = object.spec?.controlPlaneEndpoint ?? {};
  if (host && (port || host !== endpoint.host)) return { endpoint: { host, port: port || endpoint.port } };

  // By UID, because an apply would create a deleted object again. By version, because the infrastructure provider may
  // set the endpoint at the same time.
  const { name, uid, resourceVersion } = object.metadata;
  const patch = {
    apiVersion: resource.apiVersion,
    kind: resource.kind,
    metadata: { namespace, name, uid, resourceVersion },
    spec: { controlPlaneEndpoint: endpoint },
  };
  try {
    // Force, because an empty endpoint belongs to the field manager that created the object.
    await client.apply(patch, { resource, fieldManager: infrastructureManager, force: true });
  } catch (error) {
    if (!isConflict(error) || attemptsLeft <= 1) throw error;
    return writeOnce(options, kind, endpoint, attemptsLeft - 1);
  }
  return { endpoint };
}

/** How to write the endpoint to an infrastructure kind. */
interface InfrastructureKind {
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

/**
 * Orders versions by the preference of Kubernetes: v2, v1, v1beta2, v1beta1, v1alpha1, and then versions of another
 * form.
 */
export function compareApiVersions(a: string, b: string): number {
  const [left, right] = [parse(a), parse(b)];
  if (!left || !right) return left || right ? (left ? -1 : 1) : compareTexts(a, b);
  return right.stability - left.stability || right.major - left.major || right.minor - left.minor;
}

const stabilities = ['alpha', 'beta'];

function parse(version: string): { major: number; stability: number; minor: number } | undefined {
  const [, major, stability, minor] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
  if (major === undefined) return undefined;
  const rank = stability === undefined ? stabilities.length : stabilities.indexOf(stability);
  return { major: Number(major), stability: rank, minor: Number(minor ?? 0) };
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
