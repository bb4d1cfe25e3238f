import { z } from 'zod';

/** The part of OpenAPI v3 that a CustomResourceDefinition may use. */
export interface StructuralSchema {
  type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  description?: string;
  format?: string;
  default?: unknown;
  enum?: unknown[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  minProperties?: number;
  maxProperties?: number;
  required?: string[];
  properties?: Record<string, StructuralSchema>;
  additionalProperties?: StructuralSchema;
  items?: StructuralSchema;
  'x-kubernetes-int-or-string'?: true;
  'x-kubernetes-preserve-unknown-fields'?: true;
  'x-kubernetes-list-type'?: 'atomic' | 'map' | 'set';
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-validations'?: readonly object[];
}

/**
 * The schema of a CustomResourceDefinition for what a zod schema accepts. The output of zod is almost structural.
 * Throws for schemas that no structural schema can express, above all unions.
 */
export function structural(schema: z.ZodType): StructuralSchema {
  const { $schema: _schema, ...emitted } = z.toJSONSchema(schema, {
    target: 'openapi-3.0',
    io: 'input',
    override: ({ jsonSchema }) => makeStructural(jsonSchema),
  });
  const unchecked: object = emitted;
  return documented(checked(unchecked, []));
}

function checked(schema: StructuralSchema, path: readonly string[]): StructuralSchema {
  if (!schema.type && !schema['x-kubernetes-int-or-string']) {
    throw new Error(`${path.join('.')} has no type: write alternatives as optional fields and a rule, not as a union`);
  }
  for (const [name, child] of children(schema)) checked(child, [...path, name]);
  return schema;
}

/** `kubectl explain` does not show defaults, so the description contains them. */
function documented(schema: StructuralSchema): StructuralSchema {
  for (const [, child] of children(schema)) documented(child);
  if (schema.default !== undefined && typeof schema.default !== 'object') {
    schema.description = [schema.description, `Default: ${JSON.stringify(schema.default)}.`].join(' ');
  }
  return schema;
}

/** The schemas one level below a schema, by their name in a path. */
export function children({ properties, items, additionalProperties }: StructuralSchema): [string, StructuralSchema][] {
  return [
    ...Object.entries(properties ?? {}),
    ...(items ? [['items', items] satisfies [string, StructuralSchema]] : []),
    ...(additionalProperties ? [['*', additionalProperties] satisfies [string, StructuralSchema]] : []),
  ];
}

function makeStructural(schema: z.core.JSONSchema.BaseSchema): void {
  delete schema['propertyNames'];
  if (schema['x-kubernetes-int-or-string']) delete schema['anyOf'];
  if (schema['format'] === 'date-time') delete schema['pattern'];
  if (schema['enum'] && schema['type'] === 'number') schema['type'] = 'integer';
  if (schema['type'] === 'integer') boundInteger(schema);
  const more = schema['additionalProperties'];
  if (more && Object.keys(more).length === 0) {
    delete schema['additionalProperties'];
    schema['x-kubernetes-preserve-unknown-fields'] = true;
  }
}

/** zod emits the bounds of its integer types as numbers, Kubernetes as formats. */
function boundInteger(schema: z.core.JSONSchema.BaseSchema): void {
  const { minimum, maximum } = schema;
  schema['format'] ??= maximum === Number.MAX_SAFE_INTEGER ? 'int64' : 'int32';
  if (minimum === -(2 ** 31) || minimum === Number.MIN_SAFE_INTEGER) delete schema['minimum'];
  if (maximum === 2 ** 31 - 1 || maximum === Number.MAX_SAFE_INTEGER) delete schema['maximum'];
}
