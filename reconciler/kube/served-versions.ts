import type { CustomResourceDefinitionObject } from '../../imports/kubernetes.ts';
import { type Resource, versionOf } from '../../constructs/api/resources.ts';

/**
 * The supported versions that a definition serves, in the same order; none while it is not established or is being
 * deleted, because requests would fail.
 */
export function servedVersions(
  definition: CustomResourceDefinitionObject | undefined,
  known: readonly Resource[],
): Resource[] {
  const { metadata, spec, status } = definition ?? {};
  const isEstablished = status?.conditions?.some(
    ({ type, status: value }) => type === 'Established' && value === 'True',
  );
  if (!isEstablished || metadata?.deletionTimestamp) return [];
  const served = new Set(spec?.versions?.filter((version) => version.served).map(({ name }) => name));
  return known.filter((resource) => served.has(versionOf(resource)));
}
