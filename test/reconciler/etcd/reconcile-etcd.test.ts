import { beforeAll, describe, expect, it } from 'vitest';
import { PersistentVolumeClaim, Pod } from '../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import type { EtcdReport } from '../../../reconciler/etcd/report.ts';
import { openEtcd } from '../../../reconciler/etcd/access.ts';
import { reconcileEtcd } from '../../../reconciler/etcd/reconcile-etcd.ts';
import { memoryClusterOf } from '../../support/loop/memory-cluster-of.ts';
import { completeCluster } from '../../support/loop/scenario.ts';
import type { MemoryObjects, StoredObject } from '../../support/memory-objects.ts';
import { clusterName, namespace } from '../../support/scope.ts';

/** Three members of an old template whose processes do not run. */
let down: MemoryObjects;
beforeAll(async () => {
  down = memoryClusterOf(await completeCluster());
  const containerStatuses = [{ name: 'etcd', ready: false, state: {} }];
  for (const pod of down.list<StoredObject>(Pod, selectorLabels(clusterName, 'etcd')))
    down.put({ ...pod, status: { containerStatuses } });
});

/** One iteration in which the watches have seen `watched` and the API has `present`. */
async function round(watched: MemoryObjects, present: MemoryObjects, isFormed = true) {
  const reports: EtcdReport[] = [];
  const step = await reconcileEtcd(
    {
      cluster: { name: clusterName, namespace },
      goal: { replicas: 3, revision: 'new', cause: 'requested', quotaBytes: 1 },
      isFormed,
      reader: watched,
      writer: present,
    },
    {
      open: openEtcd,
      report: (report) => reports.push(report),
      signal: new AbortController().signal,
      inProgress: undefined,
      previous: undefined,
      defragment: () => {},
    },
  );
  return { step, decided: reports[0]?.decision };
}

/** Their processes run, and cannot be reached. @param isMarked whether volumes hold data */
function running(isMarked: boolean, ready: boolean): MemoryObjects {
  const management = down.copy();
  const containerStatuses = [{ name: 'etcd', ready, state: { running: {} } }];
  for (const pod of management.list<StoredObject>(Pod, selectorLabels(clusterName, 'etcd')))
    management.put({ ...pod, status: { containerStatuses } });
  for (const claim of management.list<StoredObject>(PersistentVolumeClaim, {}))
    if (!isMarked) management.put({ ...claim, metadata: { ...claim.metadata, annotations: {} } });
  return management;
}

const replacement = { kind: 'replacePod', member: 'c1-etcd-2' };

describe('one iteration of the etcd loop', () => {
  it('replaces a pod if both the watches and the API have it', async () => {
    const [watched, present] = [down.copy(), down.copy()];
    expect((await round(watched, present)).step).toMatchObject(replacement);
    expect(present.writes).toEqual(['delete Pod c1-etcd-2']);
  });

  it.each<[string, { isMarked?: boolean; isFormed?: boolean; ready?: boolean }, object]>([
    ['no pod that runs, although it reaches none', { isMarked: true, isFormed: true }, { kind: 'wait' }],
    ['no pod that runs if only the volumes show that etcd was formed', { isMarked: true }, { kind: 'wait' }],
    ['no pod that runs if only another record shows it', { isFormed: true }, { kind: 'wait' }],
    ['no pod that runs if only the kubelets show it', { ready: true }, { kind: 'wait' }],
    ['a pod that runs if etcd was never formed', {}, { kind: 'act', step: replacement }],
  ])('replaces %s', async (_, { isMarked = false, isFormed = false, ready = false }, expected) => {
    const management = running(isMarked, ready);
    expect((await round(management, management, isFormed)).decided).toMatchObject(expected);
  });

  it('does not replace a pod that stale watches would allow while another one is already terminating', async () => {
    const [watched, present] = [down.copy(), down.copy()];
    for (const pod of present.list<StoredObject>(Pod, selectorLabels(clusterName, 'etcd'))) {
      if (pod.metadata.name !== 'c1-etcd-1') continue;
      present.put({ ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2026-11-21T12:00:00Z' } });
    }
    const { step, decided } = await round(watched, present);
    expect(decided).toMatchObject({ kind: 'act', step: replacement });
    expect(step).toBeUndefined();
    expect(present.writes).toEqual([]);
  });
});
