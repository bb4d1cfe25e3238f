import { describe, expect, it } from 'vitest';
import { clusterNameLabel } from '../../../constructs/api/group.ts';
import { PersistentVolumeClaim, Pod } from '../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import { type ObjectStep, executeOnObjects } from '../../../reconciler/etcd/execute-step.ts';
import { knownMembers, watchedMemberObjects } from '../../../reconciler/etcd/member-objects.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { clusterName, namespace } from '../../support/scope.ts';

const cluster = { name: clusterName, namespace };
const labels = selectorLabels(clusterName, 'etcd');

function threeMembers(): MemoryObjects {
  const management = new MemoryObjects();
  for (const ordinal of [0, 1, 2]) {
    management.put({ apiVersion: Pod.apiVersion, kind: Pod.kind, metadata: { name: `c1-etcd-${ordinal}`, labels } });
    const name = `etcd-data-c1-etcd-${ordinal}`;
    management.put({
      apiVersion: PersistentVolumeClaim.apiVersion,
      kind: PersistentVolumeClaim.kind,
      metadata: { name, labels },
    });
  }
  return management;
}

const carriedOut = async (
  management: MemoryObjects,
  step: ObjectStep,
  objects = watchedMemberObjects(cluster, management),
) => {
  await executeOnObjects(step, { cluster, objects, writer: management });
  return management.writes;
};

describe('a mark on a volume', () => {
  const largest = '18446744073709551615';
  it.each([
    ['is the id of its member', 'markVolume', { memberId: largest, isLost: false }],
    [
      'says that it is reserved for its member',
      'reserveVolume',
      { memberId: largest, isReserved: true, isLost: false },
    ],
  ] as const)('%s', async (_, kind, claim) => {
    const management = threeMembers();
    expect(await carriedOut(management, { kind, member: 'c1-etcd-1', id: largest })).toEqual([
      'set etcd-member of PersistentVolumeClaim etcd-data-c1-etcd-1',
    ]);
    expect(knownMembers(cluster, watchedMemberObjects(cluster, management))[1]?.claim).toEqual(claim);
  });

  it('is not written to a claim that has replaced another of the same name', async () => {
    const management = threeMembers();
    const before = watchedMemberObjects(cluster, management);
    const claim = before.claims[1];
    if (!claim) throw new Error('no claim');
    management.remove(claim);
    management.put({ ...claim, metadata: { ...claim.metadata, uid: 'another' } });
    const step = { kind: 'markVolume', member: 'c1-etcd-1', id: '7' } as const;
    await expect(carriedOut(management, step, before)).rejects.toThrow('is gone');
  });
});

describe('a discarded volume', () => {
  it('is deleted before the pod that uses it, and no other volume is', async () => {
    expect(await carriedOut(threeMembers(), { kind: 'discardVolume', member: 'c1-etcd-2' })).toEqual([
      'delete PersistentVolumeClaim etcd-data-c1-etcd-2',
      'delete Pod c1-etcd-2',
    ]);
  });
});

describe('a replaced pod', () => {
  it('is exactly the pod that the step names', async () => {
    const management = threeMembers();
    const podUid = management.get(Pod, 'c1-etcd-0')?.metadata.uid ?? '';
    expect(await carriedOut(management, { kind: 'replacePod', member: 'c1-etcd-0', podUid: 'an older one' })).toEqual(
      [],
    );
    expect(await carriedOut(management, { kind: 'replacePod', member: 'c1-etcd-0', podUid })).toEqual([
      'delete Pod c1-etcd-0',
    ]);
  });
});

describe('members', () => {
  it('are known by ordinal, also those that only have a volume', () => {
    const management = new MemoryObjects();
    const put = (name: string) =>
      management.put({
        apiVersion: PersistentVolumeClaim.apiVersion,
        kind: PersistentVolumeClaim.kind,
        metadata: { name, labels: { ...labels, [clusterNameLabel]: clusterName } },
      });
    for (const name of ['etcd-data-c1-etcd-6', 'etcd-data-c1-etcd-x', 'something']) put(name);
    const members = knownMembers(cluster, watchedMemberObjects(cluster, management));
    expect(members.map(({ name, claim }) => [name, claim !== undefined])).toEqual([
      ...[0, 1, 2, 3, 4, 5].map((ordinal) => [`c1-etcd-${ordinal}`, false]),
      ['c1-etcd-6', true],
    ]);
    expect(members[6]?.peerUrl).toBe('https://c1-etcd-6.e-c1-etcd.team.svc:2380');
  });
});
