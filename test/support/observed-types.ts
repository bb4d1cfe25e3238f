/** A schema of OpenAPI, as Kubernetes publishes it for its own kinds and a CRD contains it for others. */
export interface ObservedSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly items?: ObservedSchema;
  readonly properties?: Readonly<Record<string, ObservedSchema>>;
  readonly additionalProperties?: ObservedSchema | boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
}

/**
 * The types of objects that an API returns: those of the kinds, each as `KindObject`, and of all that they contain. The
 * sender may be of another version, so every field is optional; nobody may change what is cached, so every field is
 * readonly. openapi-typescript 7 asks for TypeScript 5, which this repository does not have.
 * @param kinds names of definitions
 * @param definitions schemas by their names, of which the last part names the type
 */
export function observedTypes(kinds: readonly string[], definitions: Readonly<Record<string, ObservedSchema>>): string {
  const names = new Map<string, string>();
  const types: string[] = [];
  for (const kind of kinds) {
    const { apiVersion: _, kind: __, metadata: ___, ...properties } = schemaOf(kind).properties ?? {};
    types.push(`export interface ${lastPart(kind)}Object extends KubeObject ${fields(properties, '')}`);
  }
  const imported = ['KubeObject', 'ObjectMeta'].filter((name) => types.some((text) => text.includes(name)));
  return [`import type { ${imported.join(', ')} } from '../reconciler/kube/object.ts';`, ...types.sort()].join('\n\n');

  function schemaOf(name: string): ObservedSchema {
    const schema = definitions[name];
    if (!schema) throw new Error(`${name} is not defined`);
    return schema;
  }

  function referred(definition: string): string {
    const { properties, ...schema } = schemaOf(definition);
    if (definition.endsWith('.ObjectMeta')) return 'Partial<ObjectMeta>';
    if (!properties) return typeOf(schema, '');
    const known = names.get(definition);
    if (known !== undefined) return known;
    const [name = '', , group = ''] = definition.split('.').reverse();
    const isTaken = [...names.values()].includes(name);
    const unique = isTaken ? `${group[0]?.toUpperCase()}${group.slice(1)}${name}` : name;
    names.set(definition, unique);
    types.push(`export interface ${unique} ${fields(properties, '')}`);
    return unique;
  }

  function fields(properties: Readonly<Record<string, ObservedSchema>>, indent: string): string {
    const lines = Object.entries(properties).map(([name, schema]) => {
      const key = /^\w+$/.test(name) ? name : `'${name}'`;
      return `${indent}  readonly ${key}?: ${typeOf(schema, `${indent}  `)} | undefined;\n`;
    });
    return lines.length === 0 ? '{}' : `{\n${lines.join('')}${indent}}`;
  }

  function typeOf(schema: ObservedSchema, indent: string): string {
    const { $ref, type, format, items, properties, additionalProperties } = schema;
    if ($ref !== undefined) return referred($ref.replace('#/definitions/', ''));
    if (format === 'int-or-string' || schema['x-kubernetes-int-or-string']) return 'number | string';
    if (properties) return fields(properties, indent);
    if (items) return `readonly ${inList(typeOf(items, indent))}[]`;
    if (typeof additionalProperties === 'object')
      return `Readonly<Record<string, ${typeOf(additionalProperties, indent)}>>`;
    return simpleTypes[type ?? ''] ?? 'unknown';
  }
}

const simpleTypes: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  object: 'Readonly<Record<string, unknown>>',
};

function inList(type: string): string {
  return /^readonly |\|/.test(type) ? `(${type})` : type;
}

function lastPart(definition: string): string {
  return definition.slice(definition.lastIndexOf('.') + 1);
}
