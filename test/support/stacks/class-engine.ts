import { parse } from 'yaml';
import type { ClusterClassSpec, ClusterClassSpecPatches } from '../../../imports/cluster.x-k8s.io.ts';
import type { RenderedObject } from '../../../constructs/control-plane/chart.ts';
import { renderTemplate, type TemplateData } from './go-template.ts';

/** The objects of a ClusterClass: the class, and the templates to which it refers. */
export type ClassObjects = readonly RenderedObject[];

/** Template that holds the spec of an object of this kind, after the patches of the class, as Cluster API applies them. */
export function patchedTemplate(objects: ClassObjects, kind: string, variables: TemplateData): RenderedObject {
  const cluster = objects.find((object) => object.kind === 'ClusterClass');
  const template = objects.find((object) => object.kind === kind);
  if (!cluster || !template) throw new Error(`the class has no ${kind}`);
  const result = structuredClone(template);
  for (const patch of enabledPatches(cluster, variables)) {
    for (const { selector, jsonPatches } of patch.definitions ?? []) {
      if (selector.kind !== kind || selector.apiVersion !== template.apiVersion) continue;
      for (const { op, path, value, valueFrom } of jsonPatches) {
        apply(result, op, path, value ?? valueOf(valueFrom, variables));
      }
    }
  }
  return result;
}

/** The patches that apply to a Cluster with these values. */
export function enabledPatches(cluster: RenderedObject, variables: TemplateData): ClusterClassSpecPatches[] {
  const { patches = [] } = cluster['spec'] as ClusterClassSpec;
  return patches.filter(
    ({ enabledIf }) => enabledIf === undefined || parse(renderTemplate(enabledIf, variables)) === true,
  );
}

function valueOf(
  from: { readonly variable?: string; readonly template?: string } | undefined,
  variables: TemplateData,
): unknown {
  if (from?.template !== undefined) return parse(renderTemplate(from.template, variables));
  const value = variables[from?.variable ?? ''];
  if (value === undefined) throw new Error(`the variable ${from?.variable} has no value`);
  return value;
}

/** One JSON patch. @throws where its parent, or what it replaces, is not there */
function apply(object: RenderedObject, op: string, path: string, value: unknown): void {
  const keys = path.split('/').slice(1);
  const last = keys.pop() ?? '';
  let parent: unknown = object;
  for (const key of keys) parent = (parent as Readonly<Record<string, unknown>> | undefined)?.[key];
  if (typeof parent !== 'object' || parent === null) throw new Error(`${path} has no parent`);
  if (op === 'replace' && !(last in parent)) throw new Error(`${path} is not there`);
  (parent as Record<string, unknown>)[last] = value;
}
