import { describe, expect, it } from 'vitest';
import { movedDataAnnotation } from '../../../constructs/api/group.ts';
import { arrivedRecord, isPrepared, moveAnnotation, moveRecordOf } from '../../../reconciler/run-state/move-record.ts';

const record = { uid: 'here', backup: '2026-11-25T09-00-00.000Z-42' };
const annotations = moveAnnotation(record);

describe('the record of a move', () => {
  it('is read as it was written', () => expect(moveRecordOf({ annotations })).toEqual(record));

  it.each([
    ['there is no annotation', undefined],
    ['it is empty', ''],
    ['it names no backup', 'here/'],
    ['it names no object', `/${record.backup}`],
    ['the backup has no name of a backup', 'here/newest'],
    ['it leads out of the folder of backups', `here/../${record.backup}`],
  ])('is none when %s', (_, text) => {
    const found = text === undefined ? {} : { [movedDataAnnotation]: text };
    expect(moveRecordOf({ annotations: found })).toBeUndefined();
  });

  it('is of the object that was prepared, or of the one that it became', () => {
    expect(isPrepared({ annotations, uid: 'here' })).toBe(true);
    expect(arrivedRecord({ annotations, uid: 'here' })).toBeUndefined();
    expect(isPrepared({ annotations, uid: 'there' })).toBe(false);
    expect(arrivedRecord({ annotations, uid: 'there' })).toEqual(record);
    expect(arrivedRecord({ annotations: {}, uid: 'there' })).toBeUndefined();
  });
});
