import type { PodObject } from '../../../imports/kubernetes.ts';
import { group } from '../../../constructs/api/group.ts';
import { Pod } from '../../../constructs/api/resources.ts';
import type { Writer } from '../management/view.ts';
import { restartsWith, restartsWithAnnotation } from '../../../constructs/pod/component.ts';

/**
 * Makes kubelets update the files of pods that come from Secrets. A kubelet updates them within a minute or so, and
 * immediately when the pod has changed.
 * @param purpose name of the annotation that changes, and of its field manager: one for each file, so that two that change together do not undo each other
 * @param version of the expected content; only its first twelve characters are used
 */
export async function refreshFiles(
  writer: Pick<Writer, 'setFields'>,
  pods: readonly PodObject[],
  { purpose, version }: { readonly purpose: string; readonly version: string },
): Promise<void> {
  const annotation = `${group}/${purpose}`;
  const value = version.slice(0, 12);
  const outdated = pods.filter(({ metadata }) => metadata.annotations?.[annotation] !== value);
  // A pod that was deleted meanwhile needs no refresh.
  await Promise.allSettled(
    outdated.map((pod) => writer.setFields(Pod, pod, { annotations: { [annotation]: value } }, purpose)),
  );
}

/**
 * Whether a pod was created for this content of a file, so that its processes have read it at their start.
 * @param file a Secret, or `<Secret>/<key>`, as the component's pod template names it
 * @param fingerprint of the content; the pod holds its first 12 characters
 */
export function wasStartedWith({ metadata }: PodObject, file: string, fingerprint: string): boolean {
  const entry = restartsWith({ [file]: fingerprint.slice(0, 12) }) ?? '';
  return (metadata.annotations?.[restartsWithAnnotation] ?? '').split(',').includes(entry);
}
