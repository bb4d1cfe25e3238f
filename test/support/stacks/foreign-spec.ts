import type { StructuralSchema } from '../../../constructs/api/structural.ts';
import { keptDefinitions } from '../kept-definitions.ts';

/** The schema of the spec of a foreign kind in one version. @throws for a kind whose definition is not kept */
export async function foreignSpec(kind: string, version: string): Promise<StructuralSchema> {
  const found = (await keptDefinitions()).find(({ spec }) => spec.names.kind === kind);
  const schema = found?.spec.versions.find(({ name }) => name === version)?.schema.openAPIV3Schema.properties?.['spec'];
  if (!schema) throw new Error(`no definition of ${kind} ${version} is kept`);
  return schema;
}

/** The spec of the objects that are created from a template, by the spec of the template. */
export function innerSpec({ properties = {} }: StructuralSchema): StructuralSchema {
  const spec = properties['template']?.properties?.['spec'];
  if (!spec) throw new Error('the template has no spec');
  return spec;
}
