import { describe, expect, it } from 'vitest';
import { PersistentVolumeClaim, Pod, StatefulSet } from '../../../constructs/api/resources.ts';
import type { EtcdLoop } from '../../../reconciler/etcd/loop.ts';
import type { EtcdReport } from '../../../reconciler/etcd/report.ts';
import { planEtcdStep } from '../../../reconciler/etcd/plan-step.ts';
import { settled } from '../../../reconciler/etcd/steps.ts';
import { errorFromStatus } from '../../../reconciler/kube/errors.ts';
import type { Outcome } from '../../../reconciler/engine/outcome.ts';
import { etcd } from '../../../reconciler/phases/etcd.ts';
import { settle } from '../../support/management-controllers.ts';
import { MemoryObjects, type StoredObject } from '../../support/memory-objects.ts';
import { now, scopeOf } from '../../support/scope.ts';
import { observed, observedStatus, silent } from '../etcd/observed.ts';

const Gi = 1024 ** 3;

/** Members in the desired state, with this size in use, this version and this size of the database file. */
function etcdLoopOf(usedBytes: number, version = '3.6.8', fileBytes = usedBytes): EtcdLoop {
  const status = (ordinal: number) => ({
    status: observedStatus(ordinal, { dbSizeBytes: fileBytes, dbSizeInUseBytes: usedBytes, version }),
  });
  const report: EtcdReport = {
    observation: observed(3, { 0: status(0), 1: status(1), 2: status(2) }, { clusterVersion: '3.6.0' }),
    decision: settled,
  };
  return { report: () => report, observe: async () => ({ ...report, isCurrent: true }), stop: async () => {} };
}

async function reconcile(
  management: MemoryObjects,
  etcdLoop: EtcdLoop,
  spec: object = {},
  status: object = {},
): Promise<Outcome> {
  const changes = { etcdLoop, spec: { etcd: { replicas: 3, ...spec } }, status };
  const outcome = await etcd.run(scopeOf(management, changes));
  settle(management);
  return outcome;
}

const quotasIn = (management: MemoryObjects) =>
  [...JSON.stringify(management.objects).matchAll(/quota-backend-bytes: (\d+)/g)].map(
    ([, quota]) => Number(quota) / Gi,
  );

async function formed(): Promise<MemoryObjects> {
  const management = new MemoryObjects();
  await reconcile(management, etcdLoopOf(0));
  return management;
}

describe("etcd's volumes", () => {
  it('grow before they are full, and the quota follows when all of them have grown', async () => {
    const management = await formed();
    const etcdLoop = etcdLoopOf(1.5 * Gi);
    expect(await reconcile(management, etcdLoop)).toMatchObject({
      kind: 'done',
      message: 'the operator expands the volumes of etcd from 4Gi to 8Gi',
      report: { etcdVolumeUsage: '1536Mi' },
      facts: { etcd: { volumeSize: '4Gi', templateVolumeSize: '4Gi' } },
    });
    expect(new Set(quotasIn(management))).toEqual(new Set([2]));

    expect(await reconcile(management, etcdLoop)).toMatchObject({ facts: { etcd: { volumeSize: '8Gi' } } });
    expect(new Set(quotasIn(management))).toEqual(new Set([4]));
    expect(JSON.stringify(management.get<StoredObject>(StatefulSet, 'c1-etcd')?.['spec'])).toContain('"storage":"4Gi"');
    expect(await reconcile(management, etcdLoop)).toMatchObject({ kind: 'done', message: undefined });
  });

  it('are used by the whole database file, and grow by what is in use of it only', async () => {
    const management = await formed();
    expect(await reconcile(management, etcdLoopOf(0.5 * Gi, '3.6.8', 1.5 * Gi))).toMatchObject({
      message: undefined,
      report: { etcdVolumeUsage: '1536Mi' },
    });
  });

  it.each([
    ['rises at once', 55, 60, 60],
    ['falls by more than five', 65, 55, 55],
    ['stays when it falls by five', 65, 60, 65],
    ['is never more than all', undefined, 105, 100],
    ['stays while no member answers', 65, undefined, undefined],
  ])('have the percent of the quota in the status, which %s', async (_, quotaPercent, quotaUsage, reported) => {
    const management = await formed();
    const report = { ...etcdLoopOf(0).report()!, quotaUsage };
    const loop: EtcdLoop = { ...etcdLoopOf(0), observe: async () => ({ ...report, isCurrent: true }) };
    const outcome = await reconcile(management, loop, {}, { etcd: { quotaPercent } });
    expect(outcome.report?.etcd?.quotaPercent).toBe(reported);
  });

  it('that cannot grow are reported and retried, and everything else continues', async () => {
    const management = await formed();
    // Claims are marked as used first.
    await reconcile(management, etcdLoopOf(0));
    const message = 'the storageclass that provisions the pvc must support resize';
    management.refuse(({ kind }) =>
      kind === 'PersistentVolumeClaim' ? errorFromStatus('apply', 403, { message }) : undefined,
    );
    expect(await reconcile(management, etcdLoopOf(1.5 * Gi))).toMatchObject({
      kind: 'degraded',
      reason: 'VolumeNotExpandable',
      requeueAt: expect.any(Date),
    });
  });

  it('stay if the specified size is smaller, and both sizes are named', async () => {
    expect(await reconcile(await formed(), etcdLoopOf(0), { autoGrow: false, volumeSize: '1Gi' })).toMatchObject({
      kind: 'degraded',
      reason: 'VolumeSizeChanged',
      message: expect.stringMatching(/1Gi.*4Gi/),
    });
  });
});

describe("etcd's members", () => {
  const gone = errorFromStatus('apply', 503, { message: 'unavailable' });
  const refusal = errorFromStatus('apply', 403, { message: 'admission says no' });

  it.each([
    ['StatefulSet', refusal, 3],
    ['ConfigMap', refusal, 5],
    ['PersistentVolumeClaim', refusal, 5],
    ['StatefulSet', gone, 3],
    ['PersistentVolumeClaim', gone, 3],
  ])('are looked after by a new operator process although %s is not written: %s', async (refused, error, replicas) => {
    const management = await formed();
    management.refuse(({ kind }) => (kind === refused ? error : undefined));
    const goals: unknown[] = [];
    const loop: EtcdLoop = {
      ...etcdLoopOf(1.5 * Gi),
      async observe({ goal }) {
        goals.push(goal);
        return etcdLoopOf(1.5 * Gi).observe({ goal } as never);
      },
    };
    const spec = { etcd: { replicas: 5, resources: { requests: { cpu: '2' } } } };
    const onRefused = error === refusal ? () => {} : undefined;
    const run = etcd.run({ ...scopeOf(management, { etcdLoop: loop, spec }), takesRefusals: true, onRefused });
    const thrown = await run.then(
      () => undefined,
      (problem: unknown) => problem,
    );
    expect(thrown).toBe(error === gone ? gone : undefined);
    expect(goals).toMatchObject([{ replicas }]);
  });
});

describe('a member', () => {
  const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000).toISOString();

  /** Changes the second member's pod, as the StatefulSet counts it. */
  function change(management: MemoryObjects, status: object, metadata: object = {}, available = 2): void {
    const pod = management.get<StoredObject>(Pod, 'c1-etcd-1')!;
    const changed = { ...(pod['status'] as object), ...status };
    management.put({ ...pod, status: changed, metadata: { ...pod.metadata, ...metadata } });
    const set = management.get<StoredObject>(StatefulSet, 'c1-etcd')!;
    management.put({ ...set, status: { ...(set['status'] as object), availableReplicas: available } });
  }
  const unready = { conditions: [{ type: 'Ready', status: 'False' }] };

  it.each([
    ['does not report', {}, 'is on node node-1, which does not report'],
    [
      'does not confirm its end',
      { deletionTimestamp: ago(31) },
      'stays Terminating, because node node-1 does not confirm its end',
    ],
  ])('whose node %s names the node and its taint, whatever the others do', async (_, metadata, words) => {
    for (const lost of [[1], [1, 2]]) {
      const management = await formed();
      change(management, unready, metadata);
      const observation = observed(3, Object.fromEntries(lost.map((ordinal) => [ordinal, silent])));
      const decision = planEtcdStep(observation, { replicas: 3, revision: 'new', cause: 'requested', quotaBytes: Gi });
      const loop = { ...etcdLoopOf(0), observe: async () => ({ observation, decision, isCurrent: true }) };
      expect(await reconcile(management, loop)).toMatchObject({
        kind: 'wait',
        reason: 'PodsFailing',
        message: expect.stringContaining(`pod c1-etcd-1: ${words}: if that node is off for good, give it the taint`),
      });
    }
  });

  it('that is ready for ten seconds and ends, again and again, is not ready until it runs', async () => {
    const management = await formed();
    const terminated = { exitCode: 1, message: '', startedAt: ago(40), finishedAt: ago(30) };
    const state = { running: { startedAt: ago(20) } };
    const container = { name: 'etcd', ready: true, restartCount: 5, state, lastState: { terminated } };
    change(management, { containerStatuses: [container] }, {}, 3);
    expect(await reconcile(management, etcdLoopOf(0))).toMatchObject({
      kind: 'wait',
      reason: 'PodsFailing',
      message: 'etcd: pod c1-etcd-1: container etcd has ended 5 times, the last time with exit code 1',
      afterMs: 40_000,
      facts: { etcd: { version: '3.6.8' } },
    });
  });
});

describe("etcd's StorageClass", () => {
  const silentLoop: EtcdLoop = { report: () => undefined, observe: async () => undefined, stop: async () => {} };
  const classesIn = (management: MemoryObjects) =>
    [...JSON.stringify(management.objects).matchAll(/"storageClassName":"(\w+)"/g)].map(([, name]) => name);
  const claimsIn = (management: MemoryObjects) =>
    management.objects.filter(({ kind }) => kind === PersistentVolumeClaim.kind);

  it('is corrected by creating StatefulSet and claims again while no volume exists', async () => {
    const management = new MemoryObjects();
    await reconcile(management, silentLoop, { storageClassName: 'fats' });
    for (const claim of claimsIn(management)) management.put({ ...claim, status: { phase: 'Pending' } });
    expect(await reconcile(management, silentLoop, { storageClassName: 'fast' })).toMatchObject({
      kind: 'wait',
      reason: 'WaitingForMembers',
    });
    expect([management.get(StatefulSet, 'c1-etcd'), claimsIn(management)]).toEqual([undefined, []]);

    await reconcile(management, silentLoop, { storageClassName: 'fast' });
    expect(new Set(classesIn(management))).toEqual(new Set(['fast']));
  });

  it('stays where volumes exist, and the condition says so', async () => {
    const management = await formed();
    expect(await reconcile(management, etcdLoopOf(0), { storageClassName: 'fast' })).toMatchObject({
      kind: 'degraded',
      reason: 'StorageClassChanged',
    });
    expect(classesIn(management)).toEqual([]);
  });
});

describe("etcd's version", () => {
  const imageIn = (management: MemoryObjects) =>
    /etcd:([\d.]+)-0/.exec(JSON.stringify(management.get(StatefulSet, 'c1-etcd')))?.[1];

  it('stays if the requested one is not allowed', async () => {
    const management = await formed();
    expect(await reconcile(management, etcdLoopOf(0), { version: '3.5.26' })).toMatchObject({
      kind: 'degraded',
      reason: 'VersionNotAllowed',
      message: expect.stringContaining('lower minor version'),
    });
    expect(imageIn(management)).toBe('3.6.8');
  });

  it('first becomes the patch release from which upstream supports the requested minor', async () => {
    const management = await formed();
    await reconcile(management, etcdLoopOf(0, '3.6.8'), { version: '3.7.3' });
    expect(imageIn(management)).toBe('3.6.11');
    await reconcile(management, etcdLoopOf(0, '3.6.11'), { version: '3.7.3' });
    expect(imageIn(management)).toBe('3.7.3');
  });

  it('of a new minor of Kubernetes comes last in its upgrade, which the condition says before', async () => {
    const management = await formed();
    const upgrade = (version: string) =>
      etcd.run(scopeOf(management, { etcdLoop: etcdLoopOf(0), spec: { version: 'v1.37.1' }, status: { version } }));
    expect(await upgrade('v1.36.3')).toMatchObject({
      kind: 'done',
      message: expect.stringMatching(/change of etcd 3\.6\.8 to 3\.7\.0 .* waits for API servers v1\.37\.1$/),
    });
    expect(imageIn(management)).toBe('3.6.8');
    await upgrade('v1.37.1');
    expect(imageIn(management)).toBe('3.6.11');
  });

  it('changes its minor after a backup if backups are taken', async () => {
    const management = await formed();
    const backup = { schedule: '@daily', secret: { name: 's3' } };
    await reconcile(management, etcdLoopOf(0, '3.6.8'), { version: '3.6.16', backup });
    expect(imageIn(management)).toBe('3.6.16');

    const spec = { version: '3.7.3', backup };
    const waiting = await reconcile(management, etcdLoopOf(0, '3.6.16'), spec);
    expect(waiting).toMatchObject({ kind: 'degraded', reason: 'WaitingForBackup' });
    expect(imageIn(management)).toBe('3.6.16');

    const status = { etcd: { backup: { versionChanges: ['etcd 3.6 to 3.7'] } } };
    await reconcile(management, etcdLoopOf(0, '3.6.16'), spec, status);
    expect(imageIn(management)).toBe('3.7.3');
  });

  const wholeImageIn = (management: MemoryObjects) =>
    /"image":"([^"]*etcd:[^"]*)"/.exec(JSON.stringify(management.get(StatefulSet, 'c1-etcd')))?.[1];

  it("is that of the user's tag", async () => {
    const management = await formed();
    await reconcile(management, etcdLoopOf(0, '3.6.8'), { image: { tag: '3.6.16-hardened' } });
    const next = await reconcile(management, etcdLoopOf(0, '3.6.16'), { image: { tag: '3.7.3-hardened' } });
    expect(next).toMatchObject({ facts: { etcd: { version: '3.7.3' } } });
    expect(wholeImageIn(management)).toBe('registry.k8s.io/etcd:3.7.3-hardened');
    expect(await reconcile(management, etcdLoopOf(0, '3.7.3'), { image: { tag: '3.7.3-hardened' } })).toMatchObject({
      kind: 'done',
    });
  });

  it("stays, with its image, if that of the user's tag is not allowed", async () => {
    const management = await formed();
    await reconcile(management, etcdLoopOf(0, '3.6.8'), { image: { tag: '3.6.9-hardened' } });
    expect(await reconcile(management, etcdLoopOf(0, '3.6.9'), { image: { tag: '3.7.3' } })).toMatchObject({
      kind: 'degraded',
      reason: 'VersionNotAllowed',
      message: expect.stringContaining('set etcd.image.tag to 3.6.11'),
    });
    expect(wholeImageIn(management)).toBe('registry.k8s.io/etcd:3.6.9-hardened');
  });
});
