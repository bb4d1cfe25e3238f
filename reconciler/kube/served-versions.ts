import { type Resource, versionOf } from '../../constructs/api/resources.ts';
import type { KubeObject } from './object.ts';

/** The fields of a CustomResourceDefinition that the operator reads. */
export interface DefinitionObject extends KubeObject {
  readonly spec?: { readonly versions?: readonly { readonly name: string; readonly served?: boolean }[] };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/**
 * The supported versions that a definition serves, in the same order; none while it is not established or is being
 * deleted, because requests would fail.
 */
export function servedVersions(definition: DefinitionObject | undefined, known: readonly Resource[]): Resource[] {
  const { metadata, spec, status } = definition ?? {};
  const isEstablished = status?.conditions?.some(
    ({ type, status: value }) => type === 'Established' && value === 'True',
  );
  if (!isEstablished || metadata?.deletionTimestamp) return [];
  const served = new Set(spec?.versions?.filter((version) => version.served).map(({ name }) => name));
  return known.filter((resource) => served.has(versionOf(resource)));
}
