import { group } from '../../constructs/api/group.ts';
import { Pod } from '../../constructs/api/resources.ts';
import type { PodObject } from '../kube/readiness.ts';
import type { Writer } from '../management/view.ts';

/**
 * Has kubelets write the files of pods anew that come from Secrets: they do within a minute or so, and at once when the
 * pod has changed.
 * @param purpose name of the annotation that changes, and of its field manager
 * @param version of what the files shall hold, of which the first twelve characters count
 */
export async function refreshFiles(
  writer: Pick<Writer, 'setFields'>,
  pods: readonly PodObject[],
  { purpose, version }: { readonly purpose: string; readonly version: string },
): Promise<void> {
  const annotation = `${group}/${purpose}`;
  const value = version.slice(0, 12);
  const late = pods.filter(({ metadata }) => metadata.annotations?.[annotation] !== value);
  // One that is gone meanwhile needs no hurry.
  await Promise.allSettled(
    late.map((pod) => writer.setFields(Pod, pod, { annotations: { [annotation]: value } }, purpose)),
  );
}
