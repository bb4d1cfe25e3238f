import type { StatefulSetObject } from '../../../imports/kubernetes.ts';
import { expect, it } from 'vitest';
import { PersistentVolumeClaim, StatefulSet } from '../../../constructs/api/resources.ts';
import { planStorageClass } from '../../../reconciler/etcd/storage-class.ts';

const claim = (phase: string) => ({
  ...PersistentVolumeClaim,
  metadata: { name: 'etcd-data-c1-etcd-0' },
  status: { phase },
});

const setOf = (storageClassName: string | undefined): StatefulSetObject => ({
  ...StatefulSet,
  metadata: { name: 'c1-etcd' },
  spec: { volumeClaimTemplates: [{ spec: storageClassName === undefined ? {} : { storageClassName } }] },
});

const [pending, bound, lost] = [claim('Pending'), claim('Bound'), claim('Lost')];
const [fast, standard] = [setOf('fast'), setOf(undefined)];
const rendered = (storageClass: string | undefined) => ({ kind: 'render', storageClass });
const kept = { kind: 'render', storageClass: 'fast', problem: { reason: 'StorageClassChanged' } };
const replaced = (...objects: readonly object[]) => ({
  kind: 'replace',
  objects: objects.map((object) => [expect.anything(), object]),
});

it.each([
  ['is rendered before anything exists', 'fast', undefined, [], false, rendered('fast')],
  ['stays with its claims', 'fast', fast, [pending], false, rendered('fast')],
  ['stays with the data of etcd', 'fast', fast, [bound], true, rendered('fast')],
  ['stays the default class', undefined, standard, [bound], true, rendered(undefined)],
  [
    'can be corrected while no claim has a volume',
    'slow',
    fast,
    [pending, pending],
    false,
    replaced(fast, pending, pending),
  ],
  ['can be removed while no claim has a volume', undefined, fast, [pending], false, replaced(fast, pending)],
  ['can be named while no claim has a volume', 'fast', standard, [pending], false, replaced(standard, pending)],
  ['can be corrected before there is a claim', 'slow', fast, [], false, replaced(fast)],
  [
    'can be corrected by an operator after the one that was killed',
    'slow',
    undefined,
    [pending],
    false,
    replaced(pending),
  ],
  ['is that of volumes that an earlier control plane left', 'slow', undefined, [bound], false, rendered('slow')],
  ['is kept once a volume exists', 'slow', fast, [bound, pending], false, kept],
  ['is kept with a lost volume', 'slow', fast, [lost], false, kept],
  ['is kept once etcd was formed, also without claims', 'slow', fast, [], true, kept],
  ['is rendered when the StatefulSet of a formed etcd is gone', 'fast', undefined, [pending], true, rendered('fast')],
] as const)('the StorageClass %s', (_, wanted, set, claims, isFormed, expected) => {
  expect(planStorageClass({ wanted, set, claims, isFormed })).toMatchObject(expected);
});

it('names both classes when it is kept', () => {
  const plan = planStorageClass({ wanted: undefined, set: fast, claims: [bound], isFormed: true });
  expect(plan).toMatchObject({
    problem: {
      message: 'etcd.storageClassName is not set, but the volumes of etcd exist and keep fast: set it to that',
    },
  });
});
