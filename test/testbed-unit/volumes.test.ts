import { describe, expect, test } from 'vitest';
import {
  planVolumes,
  provisioner,
  storageClassName,
  volumeFor,
  type VolumeClaim,
  type Volume,
} from '../tools/testbed/volumes.ts';

function claim(
  changes: { spec?: VolumeClaim['spec']; status?: VolumeClaim['status']; deletionTimestamp?: string } = {},
): VolumeClaim {
  const { deletionTimestamp } = changes;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data', namespace: 'a', uid: '7', ...(deletionTimestamp && { deletionTimestamp }) },
    spec: { storageClassName, resources: { requests: { storage: '1Gi' } }, ...changes.spec },
    status: { phase: 'Pending', ...changes.status },
  };
}

function volume(phase: string, changes: Partial<Volume> = {}): Volume {
  return { ...volumeFor(claim(), '/data', 'm'), status: { phase }, ...changes };
}

const bound = (storage: string) =>
  claim({
    spec: { volumeName: 'pvc-7', resources: { requests: { storage } } },
    status: { phase: 'Bound', capacity: { storage: '1Gi' } },
  });

describe('claims', () => {
  test.for<[string, VolumeClaim, Volume[], string[]]>([
    ['a new one gets a volume', claim(), [], ['provision']],
    ['one of another class is ignored', claim({ spec: { storageClassName: 'fast' } }), [], []],
    ['one that names its volume waits for that', claim({ spec: { volumeName: 'chosen' } }), [], []],
    ['one whose volume is made waits for the binding', claim(), [volume('Available')], []],
    ['one that is being deleted gets nothing', claim({ deletionTimestamp: '2026-01-01T00:00:00Z' }), [], []],
    ['a bound one that asks for more gets more', bound('2Gi'), [volume('Bound')], ['expand']],
    ['the same size in another unit is no more', bound('1024Mi'), [volume('Bound')], []],
    ['a bound one keeps what it has', bound('1Gi'), [volume('Bound')], []],
  ])('%s', ([, given, volumes, expected]) => {
    expect(planVolumes([given], volumes).map(({ type }) => type)).toEqual(expected);
  });
});

describe('volumes', () => {
  const kept = { ...volume('Released').spec, persistentVolumeReclaimPolicy: 'Retain' };
  test.for<[string, Volume, string[]]>([
    ['one that was released goes', volume('Released'), ['delete']],
    ['one that is to be retained stays', volume('Released', { spec: kept }), []],
    ['one of another provisioner stays', volume('Released', { metadata: { name: 'other' } }), []],
    ['a bound one stays', volume('Bound'), []],
  ])('%s', ([, given, expected]) => {
    expect(planVolumes([], [given]).map(({ type }) => type)).toEqual(expected);
  });

  test('a volume is local to its node, so that the kubelet applies the fsGroup of the pod', () => {
    expect(volumeFor(claim(), '/data/pvc-7', 'm')).toMatchObject({
      metadata: { name: 'pvc-7', annotations: { 'pv.kubernetes.io/provisioned-by': provisioner } },
      spec: { capacity: { storage: '1Gi' }, local: { path: '/data/pvc-7' }, claimRef: { name: 'data', uid: '7' } },
    });
  });
});
