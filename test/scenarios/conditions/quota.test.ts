import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, Pod, StatefulSet } from '../../../constructs/api/resources.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { BackedUpCluster } from '../../support/loop/backed-up-cluster.ts';
import type { MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { completeCluster, orderedCluster } from '../../support/loop/scenario.ts';
import { ObjectStoreServer } from '../../support/object-store-server.ts';
import { problemsIn } from './operate.ts';
import { underQuota } from './surroundings.ts';

let bucket: ObjectStoreServer;
beforeAll(async () => {
  bucket = await ObjectStoreServer.start();
});
afterAll(() => bucket.stop());

type Scaled = KubeObject & { readonly spec?: { readonly replicas?: number } };
const replicasOf = ({ objects }: MemoryCluster) =>
  [objects.get<Scaled>(StatefulSet, 'c1-etcd'), objects.get<Scaled>(Deployment, 'c1-api-server')].map(
    (workload) => workload?.spec?.replicas,
  );

describe('under a quota on limits, without `resources` in the spec', () => {
  it('no pod comes up, and the control plane is not Ready', async () => {
    const cluster = await orderedCluster();
    await underQuota(cluster);
    const operator = await OperatorProcess.start(cluster);
    await operator.rounds(5);
    await operator.stop();
    expect(cluster.objects.list(Pod, {})).toEqual([]);
    expect(problemsIn(cluster).some((problem) => problem.startsWith('Ready False'))).toBe(true);
  });

  it('running pods stay, and one that cannot be replaced is told with the words of the API server', async () => {
    const cluster = await completeCluster();
    await underQuota(cluster);
    await cluster.change({ deployment: { scheduler: { args: { v: '4' } } } });
    const operator = await OperatorProcess.start(cluster);
    await operator.rounds(5);
    await operator.stop();
    expect(problemsIn(cluster).join('\n')).toMatch(
      /SchedulerReady False .*pods "c1-scheduler-0" is forbidden: failed quota: quota: must specify limits\.cpu for: kube-scheduler/,
    );
    expect(cluster.objects.get(Pod, 'c1-scheduler-0')).toBeDefined();
  });

  it('a restore tries its pods before it stops anything', async () => {
    const site = await BackedUpCluster.start(bucket, 'a1', 0, { encryptionAtRest: { provider: 'None' } });
    await site.backUp(0);
    await site.operator.untilSettled();
    await underQuota(site.cluster);
    const before = replicasOf(site.cluster);
    await site.cluster.change({ etcd: { restore: { latest: true } } });
    await site.operator.reconcileUntil('the refusal', () => problemsIn(site.cluster).join().includes('failed quota'));
    await site.operator.stop();
    expect(before).toEqual([1, 1]);
    expect(replicasOf(site.cluster)).toEqual(before);
  });

  it('a check of the configuration that cannot run has a reason of its own', async () => {
    const cluster = await completeCluster();
    await underQuota(cluster);
    await cluster.change({ deployment: { apiServer: { args: { 'event-ttl': '2h' } } } });
    const operator = await OperatorProcess.start(cluster);
    await operator.rounds(5);
    await operator.stop();
    const accepted = cluster.conditions.find(({ type }) => type === 'APIServerConfigurationAccepted');
    expect(accepted?.message).toContain('failed quota');
    expect(accepted?.reason).not.toBe('ReconcileFailed');
  });
});
