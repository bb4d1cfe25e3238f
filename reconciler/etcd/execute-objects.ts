import { PersistentVolumeClaim, Pod } from '../../constructs/api/resources.ts';
import type { Writer } from '../management/view.ts';
import type { ObjectStep } from './execute.ts';
import { claimOf, type MemberObjects, podOf } from './member-objects.ts';
import { markPurpose, volumeMark } from './volume-mark.ts';

/** Where a step on pods and volume claims happens. */
export interface MemberPlaces {
  readonly cluster: { readonly name: string; readonly namespace: string };
  /** Those the step was decided about; others that have taken their names since are left alone. */
  readonly objects: MemberObjects;
  readonly writer: Writer;
}

/** Does what a step says to exactly the objects that it was decided about. @throws when one is gone that is to be marked. */
export async function executeOnObjects(step: ObjectStep, { cluster, objects, writer }: MemberPlaces): Promise<void> {
  const ordinal = Number(step.member.slice(step.member.lastIndexOf('-') + 1));
  const pod = podOf(cluster, objects, ordinal);
  const claim = claimOf(cluster, objects, ordinal);
  switch (step.kind) {
    case 'MarkVolume':
    case 'ReserveVolume': {
      if (!claim) throw new Error(`the volume claim of ${step.member} is gone`);
      const annotations = volumeMark(step.id, { isReserved: step.kind === 'ReserveVolume' });
      return writer.setFields(PersistentVolumeClaim, claim, { annotations }, markPurpose);
    }
    case 'DiscardVolume':
      // The claim first: Kubernetes keeps it until the pod is gone, and then no new pod can take it over.
      if (claim) await writer.delete(PersistentVolumeClaim, claim);
      if (pod) await writer.delete(Pod, pod);
      return;
    case 'ReplacePod':
      if (pod?.metadata.uid === step.podUid) await writer.delete(Pod, pod);
  }
}
