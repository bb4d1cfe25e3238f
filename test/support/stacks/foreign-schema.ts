import { z } from 'zod';
import { groupOf, versionOf } from '../../../constructs/api/resources.ts';
import type { StructuralSchema } from '../../../constructs/api/structural.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { type KeptDefinition, keptDefinitions } from '../kept-definitions.ts';

const definitions = await keptDefinitions();

/**
 * What an API server with the definition of its kind says of an object: unknown fields, and values that the schema
 * refuses. Empty if it accepts the object. CEL rules are not evaluated.
 * @throws for a kind whose definition the repository does not keep
 */
export function problemsOf(object: KubeObject): string[] {
  return schemaProblems(schemaOf(object), object);
}

/** Schemas that were converted before, because the large ones take long. */
const converted = new Map<StructuralSchema, z.ZodType>();

/** Unknown fields, and values that a schema refuses. */
export function schemaProblems(schema: StructuralSchema, value: unknown): string[] {
  const checked = converted.get(schema) ?? z.fromJSONSchema(closed(schema) as never);
  converted.set(schema, checked);
  const { error } = checked.safeParse(value);
  return (error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);
}

function schemaOf(object: KubeObject): StructuralSchema {
  const isMeant = ({ spec }: KeptDefinition) => spec.names.kind === object.kind && spec.group === groupOf(object);
  const version = definitions.find(isMeant)?.spec.versions.find(({ name }) => name === versionOf(object));
  if (!version) throw new Error(`no definition of ${object.apiVersion} ${object.kind} is kept`);
  return version.schema.openAPIV3Schema;
}

/** The same schema as plain JSON schema, in which fields that no schema names are errors. */
function closed(schema: StructuralSchema): object {
  const { properties, items, additionalProperties, default: _, ...rest } = schema;
  const keywords = Object.fromEntries(Object.entries(rest).filter(([key]) => !key.startsWith('x-kubernetes-')));
  const open = schema['x-kubernetes-preserve-unknown-fields'] === true;
  // Definitions leave out what metadata holds, which is the same in every kind.
  if (schema.type === 'object' && (open || !additionalProperties) && !properties) return {};
  if (schema['x-kubernetes-int-or-string']) return { anyOf: [{ type: 'integer' }, { type: 'string' }] };
  // Formats other than of integers are checked by patterns, if at all.
  delete keywords['format'];
  // A field with a default is filled in before it is required.
  const required = (schema.required ?? []).filter((name) => properties?.[name]?.default === undefined);
  return {
    ...keywords,
    ...(schema.required && { required }),
    ...(items && { items: closed(items) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, child]) => [name, closed(child)])),
      additionalProperties: open,
    }),
    ...(additionalProperties &&
      typeof additionalProperties === 'object' && { additionalProperties: closed(additionalProperties) }),
  };
}
