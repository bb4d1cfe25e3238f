import { movedDataAnnotation } from '../../constructs/api/group.ts';
import { parseBackupId } from '../../constructs/cluster/backup-names.ts';
import type { ObjectMeta } from '../kube/object.ts';

/** Where all data of a control plane are that is prepared for a move. */
export interface MoveRecord {
  /** Of the HostedControlPlane whose etcd has held them. */
  readonly uid: string;
  /** Name of the backup. */
  readonly backup: string;
}

/** What a record is read from. */
type Recorded = Pick<ObjectMeta, 'annotations' | 'uid'>;

/** The annotation with a record. */
export function moveAnnotation({ uid, backup }: MoveRecord): Record<string, string> {
  return { [movedDataAnnotation]: `${uid}/${backup}` };
}

/** The record of an object; undefined without one. Other clients can write any text, which is no record. */
export function moveRecordOf({ annotations }: Pick<Recorded, 'annotations'>): MoveRecord | undefined {
  const [uid, backup, ...more] = (annotations?.[movedDataAnnotation] ?? '').split('/');
  if (!uid || !backup || more.length > 0 || !parseBackupId(backup)) return undefined;
  return { uid, backup };
}

/** Whether the data of this very object are kept for a move. */
export function isPrepared(metadata: Recorded): boolean {
  const record = moveRecordOf(metadata);
  return record !== undefined && record.uid === metadata.uid;
}

/** The record of an object that a move has created, and whose data are still those of the backup; undefined for any other object. */
export function arrivedRecord(metadata: Recorded): MoveRecord | undefined {
  return isPrepared(metadata) ? undefined : moveRecordOf(metadata);
}
