import type { PodObject } from '../../../imports/kubernetes.ts';
import { restartsWith, restartsWithAnnotation } from '../../../constructs/pod/component.ts';

/**
 * Whether a pod was created for this content of a file, so that its processes have read it at their start.
 * @param file a Secret, or `<Secret>/<key>`, as the component's pod template names it
 * @param fingerprint of the content; the pod holds its first 12 characters
 */
export function wasStartedWith({ metadata }: PodObject, file: string, fingerprint: string): boolean {
  const entry = restartsWith({ [file]: fingerprint.slice(0, 12) }) ?? '';
  return (metadata.annotations?.[restartsWithAnnotation] ?? '').split(',').includes(entry);
}
