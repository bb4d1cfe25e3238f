import { groupOf, versionOf } from '../../../constructs/api/resources.ts';
import type { StructuralSchema } from '../../../constructs/api/structural.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { type KeptDefinition, keptDefinitions } from '../kept-definitions.ts';
import { type JsonSchema, violations } from './json-schema.ts';

const definitions = await keptDefinitions();

/**
 * What an API server with the definition of its kind says of an object: unknown fields, and values that the schema
 * refuses. Empty if it accepts the object. CEL rules are not evaluated.
 * @throws for a kind whose definition the repository does not keep
 */
export function problemsOf(object: KubeObject): string[] {
  return schemaProblems(schemaOf(object), object);
}

/** Unknown fields, and values that a schema refuses. */
export function schemaProblems(schema: StructuralSchema, value: unknown): string[] {
  return violations(closed(schema), value);
}

function schemaOf(object: KubeObject): StructuralSchema {
  const isMeant = ({ spec }: KeptDefinition) => spec.names.kind === object.kind && spec.group === groupOf(object);
  const version = definitions.find(isMeant)?.spec.versions.find(({ name }) => name === versionOf(object));
  if (!version) throw new Error(`no definition of ${object.apiVersion} ${object.kind} is kept`);
  return version.schema.openAPIV3Schema;
}

/** The same schema, with errors for fields that no schema names, as strict field validation gives. */
function closed({
  properties,
  items,
  additionalProperties: more,
  required = [],
  ...schema
}: StructuralSchema): JsonSchema {
  if (schema['x-kubernetes-int-or-string']) return {};
  // Definitions leave out what metadata holds, which is the same in every kind.
  const open = schema['x-kubernetes-preserve-unknown-fields'] === true || (!properties && !more);
  return {
    ...schema,
    // A field with a default is filled in before it is required.
    required: required.filter((name) => properties?.[name]?.default === undefined),
    additionalProperties: more ? closed(more) : open,
    ...(items && { items: closed(items) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, child]) => [name, closed(child)])),
    }),
  };
}
