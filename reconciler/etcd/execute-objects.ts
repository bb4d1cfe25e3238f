import { PersistentVolumeClaim, Pod } from '../../constructs/api/resources.ts';
import type { Writer } from '../clusters/management/view.ts';
import type { ObjectStep } from './execute.ts';
import { claimOf, type MemberObjects, podOf } from './member-objects.ts';
import { markPurpose, volumeMark } from './volume-mark.ts';

/** Where a step on pods and volume claims happens. */
export interface MemberPlaces {
  readonly cluster: { readonly name: string; readonly namespace: string };
  /** The objects for which the step was decided. The step ignores other objects that have the same names meanwhile. */
  readonly objects: MemberObjects;
  readonly writer: Writer;
}

/**
 * Executes a step on exactly the objects for which it was decided.
 * @throws when the volume claim to mark no longer exists
 */
export async function executeOnObjects(step: ObjectStep, { cluster, objects, writer }: MemberPlaces): Promise<void> {
  const ordinal = Number(step.member.slice(step.member.lastIndexOf('-') + 1));
  const pod = podOf(cluster, objects, ordinal);
  const claim = claimOf(cluster, objects, ordinal);
  switch (step.kind) {
    case 'markVolume':
    case 'reserveVolume': {
      if (!claim) throw new Error(`the volume claim of ${step.member} no longer exists`);
      const annotations = volumeMark(step.id, { isReserved: step.kind === 'reserveVolume' });
      return writer.setFields(PersistentVolumeClaim, claim, { annotations }, markPurpose);
    }
    case 'discardVolume':
      // The claim is deleted first: Kubernetes keeps it until the pod is deleted, and then no new pod can use it.
      if (claim) await writer.delete(PersistentVolumeClaim, claim);
      if (pod) await writer.delete(Pod, pod);
      return;
    case 'replacePod':
      if (pod?.metadata.uid === step.podUid) await writer.delete(Pod, pod);
  }
}
