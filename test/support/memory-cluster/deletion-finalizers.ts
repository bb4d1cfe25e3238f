import type { DeleteOptions } from '../../../reconciler/kube/client-options.ts';

/** The finalizer of an owner whose dependents go first, until the garbage collector has deleted them. */
export const foregroundDeletion = 'foregroundDeletion';

/** The finalizer of an owner whose dependents stay, until the garbage collector has freed them. */
export const orphanDependents = 'orphan';

/** The finalizers of an object that a request deletes. Without a policy those that it has decide. */
export function deletionFinalizers(
  finalizers: readonly string[],
  policy: DeleteOptions['propagationPolicy'],
): readonly string[] {
  if (policy === undefined) return finalizers;
  const wanted = { Background: undefined, Foreground: foregroundDeletion, Orphan: orphanDependents }[policy];
  const others = finalizers.filter((one) => one === wanted || (one !== foregroundDeletion && one !== orphanDependents));
  return wanted === undefined || others.includes(wanted) ? others : [...others, wanted];
}
