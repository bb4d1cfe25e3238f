import { componentTemplateCRD, hostedControlPlaneCRD } from '../../constructs/api/crd.ts';
import type { StructuralSchema } from '../../constructs/api/structural.ts';
import type { celRule } from '../../constructs/api/validation-rule.ts';
import { markdownTable, withBlock } from './readme-block.ts';
import { defaultOf, withoutDefault } from './stack-tables.ts';

/** The page with every field of the API. */
export const referencePage = 'constructs/api/REFERENCE.md';

/** A schema with as many fields as this is described once, where it comes first; its other places refer to that one. */
const worthReferring = 2;

/**
 * Every field of the API: its type, its default, its description and what is refused, with a section for each field that has others
 * below it.
 */
export function withReference(text: string): string {
  const places = new Map<string, string>();
  const spec = fieldsOf(hostedControlPlaneCRD, 'spec');
  const template = fieldsOf(componentTemplateCRD, 'spec');
  const status = fieldsOf(hostedControlPlaneCRD, 'status');
  const ofObject = ownRefusals(hostedControlPlaneCRD.spec.versions[0].schema.openAPIV3Schema, '');
  return withBlock(
    text,
    'fields',
    [
      ...sectionsOf('HostedControlPlane', 'spec', spec, places, ofObject),
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

/** @param ofObject what rules of the whole object refuse */
function sectionsOf(
  kind: string,
  part: string,
  schema: StructuralSchema,
  places: Map<string, string>,
  ofObject: readonly Refusal[] = [],
): string[] {
  const fields = Object.entries(schema.properties ?? {});
  const required = new Set(schema.required);
  const overview = fields.map(([name, field]) => rowOf(name, field, required.has(name)));
  const described = new Set(places.keys());
  const refused = new Map(fields.map(([name, field]) => [name, refusalsIn(field, `${part}.${name}`, described)]));
  const below = fields
    .map(([name, field]) => ({ name, rows: rowsBelow(field, `${part}.${name}`, '', places) }))
    .filter(({ rows }) => rows.length > 0);
  const ofSections = below.flatMap(({ name }) => refused.get(name) ?? []);
  const others = [...refused.values()].flat().filter((one) => !ofSections.includes(one));
  return [
    `## ${kind}: ${part}\n\n${table(overview)}${refusedTable([...ofObject, ...ownRefusals(schema, part), ...others])}`,
    ...below.map(({ name, rows }) => `### ${part}.${name}\n\n${table(rows)}${refusedTable(refused.get(name) ?? [])}`),
  ];
}

/** What a rule of the definition refuses. */
interface Refusal {
  /** From the object. */
  readonly path: string;
  readonly message: string;
}

/** The refusals of a field and of all below it, but of fields that another place describes. @param described their schemas, as text */
function refusalsIn(schema: StructuralSchema, path: string, described: Set<string>): Refusal[] {
  const { properties = {}, items, additionalProperties } = schema;
  if (Object.keys(properties).length >= worthReferring) {
    const same = JSON.stringify(properties);
    if (described.has(same)) return [];
    described.add(same);
  }
  return [
    ...ownRefusals(schema, path),
    ...Object.entries(properties).flatMap(([name, field]) => refusalsIn(field, `${path}.${name}`, described)),
    ...(items ? refusalsIn(items, `${path}[]`, described) : []),
    ...(additionalProperties ? refusalsIn(additionalProperties, `${path}.*`, described) : []),
  ];
}

function ownRefusals(schema: StructuralSchema, path: string): Refusal[] {
  const rules = (schema['x-kubernetes-validations'] ?? []) as readonly ReturnType<typeof celRule>[];
  return rules.map(({ fieldPath = '', ...rule }) => ({
    path: `${path}${fieldPath}`.replace(/^\./, ''),
    message: 'message' in rule ? rule.message : quotedIn(rule.messageExpression),
  }));
}

/** The texts that a CEL expression puts together, with … for what the API server inserts. */
function quotedIn(expression: string): string {
  const parts = expression.split(/^'|'$|' \+ | \+ '/);
  return parts.map((part, index) => (index % 2 === 1 ? part : part && '…')).join('');
}

/** The fields that have the same message are one row. */
function refusedTable(refusals: readonly Refusal[]): string {
  if (refusals.length === 0) return '';
  const rows = [...Map.groupBy(refusals, ({ message }) => message)].map(([message, ones]) => [
    [...new Set(ones.map(({ path }) => (path === '' ? 'the object' : `\`${path}\``)))].join(', '),
    // Markdown takes a word in angle brackets for a tag, and shows nothing.
    message.replaceAll('<', '\\<'),
  ]);
  return `\n${markdownTable([['field', 'refused, because'], ...rows])}`;
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
