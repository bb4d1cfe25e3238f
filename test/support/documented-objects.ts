import { parseAllDocuments } from 'yaml';
import { HostedControlPlane, HostedControlPlaneComponentTemplate } from '../../constructs/api/resources.ts';
import type { StructuralSchema } from '../../constructs/api/structural.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import { minimalSpec } from '../constructs/api/admission-cases.ts';
import { type Block, readPages } from './pages.ts';

type SpecifiedObject = KubeObject & { readonly spec?: unknown };

/** A block of YAML in a page. */
export interface DocumentedObjects extends Block {
  /** Whether it holds objects, and not only fields of a HostedControlPlane's spec. */
  readonly isWhole: boolean;
  readonly objects: readonly SpecifiedObject[];
  /** Those among them; of a block of fields the smallest one that has them. */
  readonly hostedControlPlanes: readonly SpecifiedObject[];
  readonly componentTemplates: readonly SpecifiedObject[];
}

/** Every block of YAML in the pages. @throws for one that is not YAML */
export async function yamlOfPages(): Promise<DocumentedObjects[]> {
  const blocks = (await readPages()).flatMap((page) => page.blocks).filter(({ language }) => language === 'yaml');
  return blocks.map((block) => ({ ...block, ...objectsIn(block) }));
}

function objectsIn({ place, content }: Block): Omit<DocumentedObjects, keyof Block> {
  const documents = parseAllDocuments(content);
  const problems = documents.flatMap(({ errors, warnings }) => [...errors, ...warnings]);
  if (problems.length > 0) throw new Error(`${place}: ${problems.join('; ')}`);
  const values = documents.map((document) => document.toJS() as SpecifiedObject | Readonly<Record<string, unknown>>);
  const objects = values.filter((value): value is SpecifiedObject => 'kind' in value);
  const [hostedControlPlanes = [], componentTemplates = []] = [
    HostedControlPlane,
    HostedControlPlaneComponentTemplate,
  ].map((resource) => objects.filter(({ kind }) => kind === resource.kind));
  const isWhole = objects.length > 0 && objects.length === values.length;
  if (objects.length > 0) return { isWhole, objects, hostedControlPlanes, componentTemplates };
  return { isWhole, objects, hostedControlPlanes: values.map(smallestWith), componentTemplates };
}

/** Exposure is the one thing that cannot be there twice. */
function smallestWith(fields: object): SpecifiedObject {
  const { exposure, ...others } = minimalSpec;
  const base = 'gateway' in fields || 'exposure' in fields ? others : { exposure, ...others };
  const { apiVersion, kind } = HostedControlPlane;
  return { apiVersion, kind, metadata: { name: 'c1', namespace: 'default' }, spec: { ...base, ...fields } };
}

/** Paths of the fields that a schema does not have. */
export function unknownFields(schema: StructuralSchema, value: unknown, path = ''): string[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items ? value.flatMap((one, index) => unknownFields(items, one, `${path}[${index}]`)) : [];
  }
  if (typeof value !== 'object' || value === null || !hasFields(schema)) return [];
  return Object.entries(value).flatMap(([name, child]) => {
    const known = schema.properties?.[name] ?? schema.additionalProperties;
    return known ? unknownFields(known, child, `${path}.${name}`) : [`${path}.${name}`];
  });
}

/** One without, such as that of metadata, leaves its fields to others. */
function hasFields({ properties, additionalProperties }: StructuralSchema): boolean {
  return properties !== undefined || additionalProperties !== undefined;
}
