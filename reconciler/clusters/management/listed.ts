import type { ObjectMeta } from '../../kube/object.ts';

/** The entries of an annotation that is a list, separated by commas. */
export function listed({ annotations }: Pick<ObjectMeta, 'annotations'>, annotation: string): string[] {
  return (annotations?.[annotation] ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}
