import type { KubernetesApi } from '../../../reconciler/kube/client.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { type Fields, isFields, itemShape } from '../memory-cluster/leaves.ts';
import { fieldShape, type Shape, shapeOf } from '../memory-cluster/shapes.ts';

interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: string;
  readonly 'x-kubernetes-group-version-kind'?: readonly { group: string; version: string; kind: string }[];
}

type Schemas = Readonly<Record<string, Schema>>;

/** The schema that an API server publishes for the kinds of one group and version. */
export async function publishedSchemas(client: KubernetesApi, apiVersion: string): Promise<Schemas> {
  const path = apiVersion.includes('/') ? `/openapi/v3/apis/${apiVersion}` : `/openapi/v3/api/${apiVersion}`;
  const document: { components: { schemas: Schemas } } = JSON.parse(await client.raw(path));
  return document.components.schemas;
}

/**
 * Fields that the in-memory server merges differently than the published schema says, such as `.spec.ports: map by port, not
 * atomic`.
 */
export function shapeDifferences(object: KubeObject, schemas: Schemas): string[] {
  const schema = Object.values(schemas).find((one) =>
    one['x-kubernetes-group-version-kind']?.some(
      ({ group, version, kind }) =>
        kind === object.kind && [group, version].filter(Boolean).join('/') === object.apiVersion,
    ),
  );
  if (!schema) return [`${object.kind} is not published`];
  return differences(object, { schema, shape: shapeOf(object), path: object.kind, schemas });
}

interface Place {
  readonly schema: Schema;
  readonly shape: Shape | undefined;
  readonly path: string;
  readonly schemas: Schemas;
}

function differences(value: unknown, { schema: given, shape, path, schemas }: Place): string[] {
  const schema = resolved(given, schemas);
  const published = Array.isArray(value)
    ? listType(given, schema)
    : isFields(value)
      ? mapType(given, schema)
      : undefined;
  if (published === undefined) return [];
  const inMemory = shape ? described(shape) : Array.isArray(value) ? 'atomic' : 'fields';
  if (inMemory !== published) return [`${path}: ${published}, not ${inMemory}`];
  if (published === 'atomic') return [];
  const inner = (content: unknown, step: string, next: Schema | undefined, nextShape: Shape | undefined): string[] =>
    next ? differences(content, { schema: next, shape: nextShape, path: `${path}${step}`, schemas }) : [];
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown) => inner(item, '[]', schema.items, shape && itemShape(shape)));
  }
  return Object.entries(value as Fields).flatMap(([field, content]) =>
    inner(content, `.${field}`, schema.properties?.[field], fieldShape(shape, field)),
  );
}

function resolved(schema: Schema, schemas: Schemas): Schema {
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
  return (reference && schemas[reference.slice(reference.lastIndexOf('/') + 1)]) || schema;
}

function listType(given: Schema, schema: Schema): string {
  const type = given['x-kubernetes-list-type'] ?? schema['x-kubernetes-list-type'] ?? 'atomic';
  const keys = given['x-kubernetes-list-map-keys'] ?? schema['x-kubernetes-list-map-keys'] ?? [];
  return type === 'map' ? `map by ${keys.toSorted().join()}` : type;
}

function mapType(given: Schema, schema: Schema): string {
  return (given['x-kubernetes-map-type'] ?? schema['x-kubernetes-map-type']) === 'atomic' ? 'atomic' : 'fields';
}

function described(shape: Shape): string {
  return shape.type === 'map' ? `map by ${shape.keys.toSorted().join()}` : shape.type;
}
