import { structural } from '../../constructs/api/structural.ts';
import { valuesSchema } from '../../constructs/stacks/hetzner/values.ts';
import { templateVariables } from '../../constructs/stacks/clusterctl/variables.ts';
import { newestMinor, renderedMinors, stackMinor } from '../../constructs/stacks/openstack/minors.ts';
import { variableSections } from '../../constructs/stacks/openstack/variables.ts';
import type { JsonSchema } from './stacks/json-schema.ts';
import { markdownTable, withBlock } from './readme-block.ts';
import { providerValuesSchema } from '../../constructs/provider/helm/chart.ts';

/** The variables of the OpenStack stack, by section. */
export function withVariables(text: string): string {
  const sections = Object.entries(variableSections).map(([section, rows]) => {
    const cells = Object.entries(rows).map(([name, { schema }]) => {
      const { default: value, ...described } = structural(schema);
      return [`\`${name}\``, typeOf(described), defaultOf(value), withoutDefault(described.description)];
    });
    return `### ${section}\n\n${markdownTable([['variable', 'type', 'default', 'meaning'], ...cells])}`;
  });
  return withBlock(text, 'variables', sections.join('\n'));
}

/** The versions of the add-ons for each minor. */
export function withVersions(text: string): string {
  const rows = renderedMinors.map((minor) => {
    const { kubernetes, charts } = stackMinor(minor);
    return [kubernetes, ...Object.values(charts)];
  });
  const heading = ['Kubernetes', ...Object.keys(stackMinor(newestMinor).charts)];
  return withBlock(text, 'versions', markdownTable([heading, ...rows]));
}

/** The variables of clusterctl's templates. */
export function withTemplateVariables(text: string): string {
  const rows = Object.entries(templateVariables).map(([name, row]) => [
    `\`${name}\``,
    'byDefault' in row ? `\`${row.byDefault}\`` : '',
    row.meaning,
  ]);
  return withBlock(text, 'template variables', markdownTable([['variable', 'default', 'meaning'], ...rows]));
}

/** The values of the Hetzner chart. */
export function withValues(text: string): string {
  return withBlock(text, 'values', valuesTable(valueRows(valuesSchema(), '')));
}

/** The values of the provider's chart. The page has the defaults of environment variables already. */
export function withProviderValues(text: string): string {
  const rows = valueRows(providerValuesSchema(), '').map(([name = '', type = '', fallback = '', meaning = '']) => [
    name,
    type,
    name === '`env`' ? 'see above' : fallback,
    meaning,
  ]);
  return withBlock(text, 'chart values', valuesTable(rows));
}

function valuesTable(rows: readonly string[][]): string {
  return markdownTable([['value', 'type', 'default', 'meaning'], ...rows]);
}

interface DescribedSchema extends JsonSchema {
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, DescribedSchema>>;
}

function valueRows({ properties = {} }: DescribedSchema, path: string): string[][] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const below = valueRows(schema, `${path}${name}.`);
    if (below.length > 0) return below;
    return [[`\`${path}${name}\``, typeOf(schema), defaultOf(schema.default), schema.description ?? '']];
  });
}

/** What both kinds of schemas say of a type. */
interface Typed {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly items?: { readonly type?: string };
}

function typeOf(schema: Typed): string {
  if (schema.enum) return schema.enum.join(', ');
  return schema.type === 'array' ? `list of ${schema.items?.type}` : (schema.type ?? '');
}

/** A default as code; nothing for none. */
export function defaultOf(value: unknown): string {
  return value === undefined ? '' : `\`${JSON.stringify(value)}\``;
}

/** The table has a column for it. */
export function withoutDefault(description = ''): string {
  return description.replace(/ Default: .*$/, '');
}
