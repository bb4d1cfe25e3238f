import { componentTemplateCRD, hostedControlPlaneCRD } from '../../constructs/api/crd.ts';
import type { StructuralSchema } from '../../constructs/api/structural.ts';
import { markdownTable, withBlock } from './readme-block.ts';
import { defaultOf, withoutDefault } from './stack-tables.ts';

/** The page with every field of the API. */
export const referencePage = 'constructs/api/REFERENCE.md';

/** A schema with as many fields as this is described once, where it comes first; its other places refer to that one. */
const worthReferring = 2;

/** Every field of the API: its type, its default and its description, with a section for each field that has others below it. */
export function withReference(text: string): string {
  const places = new Map<string, string>();
  const spec = fieldsOf(hostedControlPlaneCRD, 'spec');
  const template = fieldsOf(componentTemplateCRD, 'spec');
  const status = fieldsOf(hostedControlPlaneCRD, 'status');
  return withBlock(
    text,
    'fields',
    [
      ...sectionsOf('HostedControlPlane', 'spec', spec, places),
      ...sectionsOf('HostedControlPlane', 'status', status, places),
      ...sectionsOf('HostedControlPlaneComponentTemplate', 'spec', template, places),
    ].join('\n'),
  );
}

function fieldsOf({ spec }: typeof hostedControlPlaneCRD, part: 'spec' | 'status'): StructuralSchema {
  const fields = spec.versions[0].schema.openAPIV3Schema.properties?.[part];
  if (!fields) throw new Error(`${spec.names.kind} has no ${part}`);
  return fields;
}

function sectionsOf(kind: string, part: string, schema: StructuralSchema, places: Map<string, string>): string[] {
  const fields = Object.entries(schema.properties ?? {});
  const required = new Set(schema.required);
  const overview = fields.map(([name, field]) => rowOf(name, field, required.has(name)));
  const below = fields
    .map(([name, field]) => ({ name, rows: rowsBelow(field, `${part}.${name}`, '', places) }))
    .filter(({ rows }) => rows.length > 0);
  return [
    `## ${kind}: ${part}\n\n${table(overview)}`,
    ...below.map(({ name, rows }) => `### ${part}.${name}\n\n${table(rows)}`),
  ];
}

const table = (rows: readonly string[][]): string => markdownTable([['field', 'type', 'default', 'meaning'], ...rows]);

/** A row for each field below one. @param path of the field, from the object; @param under the same from its section */
function rowsBelow(field: StructuralSchema, path: string, under: string, places: Map<string, string>): string[][] {
  if (field.items) return rowsBelow(field.items, `${path}[]`, `${under}[]`, places);
  if (field.additionalProperties) return rowsBelow(field.additionalProperties, `${path}.*`, `${under}.*`, places);
  const fields = Object.entries(field.properties ?? {});
  if (fields.length >= worthReferring) {
    const same = JSON.stringify(field.properties);
    const before = places.get(same);
    if (before !== undefined) return [[`\`${under || '.'}\``, 'object', '', `the fields of \`${before}\``]];
    places.set(same, path);
  }
  const required = new Set(field.required);
  return fields.flatMap(([name, child]) => {
    const row = rowOf(`${under}.${name}`.replace(/^\./, ''), child, required.has(name));
    return [
      row,
      ...withoutRepetition(row, rowsBelow(child, `${path}.${name}`, `${under}.${name}`.replace(/^\./, ''), places)),
    ];
  });
}

/** A reference to another place becomes a part of the row of the field itself. */
function withoutRepetition(row: string[], below: string[][]): string[][] {
  const [first, ...more] = below;
  if (!first || more.length > 0 || !first[3]?.startsWith('the fields of ')) return below;
  row[3] = `${row[3]} It has ${first[3]}.`;
  return [];
}

function rowOf(name: string, schema: StructuralSchema, isRequired: boolean): string[] {
  const value = typeof schema.default === 'object' ? undefined : schema.default;
  return [
    `\`${name}\``,
    isRequired ? `${typeOf(schema)}, required` : typeOf(schema),
    defaultOf(value),
    withoutDefault(schema.description),
  ];
}

function typeOf(schema: StructuralSchema): string {
  if (schema.enum) return schema.enum.map((value) => `\`${String(value)}\``).join(', ');
  if (schema['x-kubernetes-int-or-string']) return 'integer or string';
  if (schema.items) return `list of ${typeOf(schema.items)}`;
  if (schema.additionalProperties) return `map of ${typeOf(schema.additionalProperties)}`;
  return schema.format === 'date-time' ? 'time' : (schema.type ?? 'object');
}
