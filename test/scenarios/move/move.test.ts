import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  blockMoveAnnotation,
  clusterctlLabel,
  movedDataAnnotation,
  prepareMoveAnnotation,
} from '../../../constructs/api/group.ts';
import {
  Cluster,
  Deployment,
  HostedControlPlane,
  PersistentVolumeClaim,
  Pod,
  Secret,
} from '../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { completedRequests, restoredAnnotations } from '../../../reconciler/backup/restore/observe-restore.ts';
import { BackedUpCluster } from '../../support/loop/backed-up-cluster.ts';
import { ClusterctlMove, setPaused } from '../../support/loop/clusterctl-move.ts';
import { Life } from '../../support/loop/life.ts';
import { type MemoryCluster, ourName } from '../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { verifyAtOnce } from '../../support/loop/verified-at-once.ts';
import { ObjectStoreServer } from '../../support/object-store-server.ts';
import { clusterName, namespace } from '../../support/scope.ts';

const user = { fieldManager: 'hcp' };

let bucket: ObjectStoreServer;
/** A control plane without an operator. */
let running: MemoryCluster;
beforeAll(async () => {
  bucket = await ObjectStoreServer.start();
  verifyAtOnce(bucket);
  const site = await BackedUpCluster.start(bucket, 'a1', 0, { encryptionAtRest: { provider: 'None' } });
  await site.backUp(0);
  await site.operator.untilSettled();
  await site.operator.stop();
  running = site.cluster;
  const labels = { [`${clusterctlLabel}/move`]: '' };
  await running.user.mergePatch(Secret, { namespace, name: 's3' }, { metadata: { labels } }, user);
}, 60_000);
afterAll(() => bucket.stop());
/** Copies of one control plane take backups of one name. */
beforeEach(() => {
  for (const key of bucket.objects.keys()) if (key.endsWith('/claim.json')) bucket.objects.delete(key);
});

const annotationsOf = ({ hostedControlPlane: { metadata } }: MemoryCluster) => metadata.annotations ?? {};
const annotate = ({ user: client }: MemoryCluster, value: string | null) =>
  client.mergePatch(
    HostedControlPlane,
    ourName,
    { metadata: { annotations: { [prepareMoveAnnotation]: value } } },
    user,
  );

/** Whether API servers run, or may be started. */
function serves({ objects }: MemoryCluster): boolean {
  const api = objects.get<KubeObject & { spec?: { replicas?: number } }>(Deployment, 'c1-api-server');
  return (api?.spec?.replicas ?? 0) > 0 || objects.list(Pod, selectorLabels(clusterName, 'api-server')).length > 0;
}

function reasonOf({ conditions }: MemoryCluster, type = 'NoMovePending'): string {
  const found = conditions.find((condition) => condition.type === type);
  return `${found?.status} ${found?.reason}: ${found?.message}`;
}

/** Runs an operator until a condition holds: requests to the bucket take real time. */
async function operate(management: MemoryCluster, holds: () => boolean, life = new Life()): Promise<void> {
  const operator = await OperatorProcess.start(management, life);
  for (let round = 0; round < 200 && !life.isOver; round++) {
    await operator.reconcile();
    management.settle();
    await operator.untilObserved();
    if (holds()) break;
    if (round === 199) throw new Error([reasonOf(management), ...operator.errors.map(String)].join('\n'));
    await pause(1);
    await management.clock.advance(500);
  }
  // A process that died waits for its last answer for ever.
  if (!life.isOver) await operator.stop();
}

const isPrepared = (management: MemoryCluster) => () =>
  reasonOf(management).startsWith('False PreparedForMove') &&
  annotationsOf(management)[blockMoveAnnotation] === undefined;
const isReady = (management: MemoryCluster) => () =>
  serves(management) && reasonOf(management).startsWith('True') && reasonOf(management, 'Ready').startsWith('True');

async function prepared(): Promise<MemoryCluster> {
  const management = running.copy();
  await annotate(management, 'now');
  await operate(management, isPrepared(management));
  return management;
}

/** Runs an operator, and returns the states in which it could have crashed. */
async function crashesOf(management: MemoryCluster, holds: () => boolean, check: (moment: string) => void) {
  const crashes: { moment: string; cluster: MemoryCluster }[] = [];
  let seen = management.version;
  const life = new Life({
    after(action) {
      check(action);
      // Events decide nothing.
      if (management.version === seen || action.includes('Event')) return;
      seen = management.version;
      crashes.push({ moment: action, cluster: management.copy() });
    },
  });
  await operate(management, holds, life);
  return crashes;
}

const backupIn = (management: MemoryCluster) => annotationsOf(management)[movedDataAnnotation]?.split('/')[1];

describe('a control plane that is prepared for a move', () => {
  it('stops, names the backup with all its data, and lets clusterctl go on, whenever the operator crashes', async () => {
    const management = running.copy();
    const before = bucket.objects.size;
    await annotate(management, 'now');
    const wrong: string[] = [];
    const crashes = await crashesOf(management, isPrepared(management), (moment) => {
      const isReleased = annotationsOf(management)[blockMoveAnnotation] === undefined;
      if (isReleased && (serves(management) || backupIn(management) === undefined)) wrong.push(moment);
    });
    expect(wrong).toEqual([]);
    expect(bucket.objects.size).toBeGreaterThan(before);
    expect(serves(management)).toBe(false);
    expect(crashes.length).toBeGreaterThan(5);
    for (const { moment, cluster } of crashes) {
      await operate(cluster, isPrepared(cluster));
      expect(serves(cluster), `after ${moment}`).toBe(false);
      expect(backupIn(cluster), `after ${moment}`).toMatch(/^2/);
    }
  }, 120_000);

  it('says what to do next, and how to take it back', async () => {
    const management = await prepared();
    expect(reasonOf(management)).toMatch(
      /run clusterctl move.*; to serve here again, run hcp move abort c1 --namespace/,
    );
    expect(reasonOf(management, 'Ready')).toMatch(/^False/);
  });

  it('takes no other backup, of which retention would make room', async () => {
    const management = await prepared();
    const { size } = bucket.objects;
    await management.clock.advance(24 * 3_600_000);
    let rounds = 0;
    await operate(management, () => ++rounds > 5);
    expect(bucket.objects.size).toBe(size);
    expect(reasonOf(management, 'EtcdBackupReady')).toMatch(/^True .*backups continue after the move/);
  });

  it.each([
    ['without a bucket', { etcd: { backup: null } }, /set etcd\.backup/],
    ['with a version that it does not run yet', { version: 'v1.37.1' }, /change their version/],
  ])('is not stopped %s', async (_, changes, message) => {
    const management = running.copy();
    await management.change(changes);
    await annotate(management, 'now');
    await operate(management, () => reasonOf(management).startsWith('False MoveRefused'));
    expect(reasonOf(management)).toMatch(message);
    expect(serves(management)).toBe(true);
  });

  it('blocks clusterctl until it is prepared', async () => {
    const management = running.copy();
    await expect(ClusterctlMove.copy(management)).rejects.toThrow(/blocks the move/);
    let rounds = 0;
    await operate(management, () => ++rounds > 2);
    expect(reasonOf(management, 'Paused')).toMatch(/set its spec\.paused to false to resume.*hcp move prepare/);
    expect(serves(management)).toBe(true);
  });
});

describe('a control plane that was moved', () => {
  it('serves with its data where it is, whenever the operator there crashes', async () => {
    const source = await prepared();
    const move = await ClusterctlMove.copy(source);
    await move.finish();
    const { to } = move;
    to.etcd.clusterId = 'b2';
    const crashes = await crashesOf(to, isReady(to), () => {});
    expect(crashes.length).toBeGreaterThan(20);
    expectMoved(to);
    const ofData = / (HostedControlPlane|PersistentVolumeClaim|Pod|StatefulSet|Deployment) /;
    for (const { moment, cluster } of crashes.filter((crash) => ofData.test(crash.moment))) {
      await operate(cluster, isReady(cluster));
      expectMoved(cluster, moment);
    }
  }, 240_000);

  it('keeps the networks that it was initialized with, although its Cluster has changed', async () => {
    const move = await ClusterctlMove.copy(await prepared());
    await move.finish();
    const { to } = move;
    const clusterNetwork = { pods: { cidrBlocks: ['10.99.0.0/16'] } };
    await to.user.mergePatch(Cluster, { namespace, name: clusterName }, { spec: { clusterNetwork } }, user);
    await operate(to, () => serves(to) && reasonOf(to, 'ControllerManagerReady').startsWith('True'));
    expect(JSON.stringify(to.objects.get(Deployment, 'c1-controller-manager'))).toContain('--cluster-cidr=10.0.0.0/16');
    expect(reasonOf(to, 'ClusterNetworkUnchanged')).toMatch(/^False ClusterNetworkChanged/);
  }, 60_000);

  it('can be moved again', async () => {
    const move = await ClusterctlMove.copy(await prepared());
    await move.finish();
    await operate(move.to, isReady(move.to));
    await annotate(move.to, 'again');
    await operate(move.to, isPrepared(move.to));
    const second = await ClusterctlMove.copy(move.to);
    await second.finish();
    await operate(second.to, isReady(second.to));
    expect(serves(second.to)).toBe(true);
  }, 60_000);

  it('stays stopped and says so while its backup is not there', async () => {
    const source = await prepared();
    const move = await ClusterctlMove.copy(source);
    await move.finish();
    const folder = `${namespace}/c1/${backupIn(move.to)}/`;
    const kept = [...bucket.objects].filter(([key]) => key.startsWith(folder));
    for (const [key] of kept) bucket.objects.delete(key);
    await operate(move.to, () => reasonOf(move.to, 'EtcdRestoreReady').startsWith('False BackupNotFound'));
    expect(serves(move.to)).toBe(false);
    for (const [key, content] of kept) bucket.objects.set(key, content);
    await operate(move.to, isReady(move.to));
  }, 60_000);
});

/** Every volume has the data of the move, once, and the object has forgotten it. */
function expectMoved(management: MemoryCluster, moment = 'all writes'): void {
  const restored = management.objects
    .list(PersistentVolumeClaim, selectorLabels(clusterName, 'etcd'))
    .map((claim) => completedRequests(claim, restoredAnnotations.move).length);
  expect(restored, `the volumes after ${moment}`).toEqual([1]);
  expect(annotationsOf(management)).toMatchObject({ [blockMoveAnnotation]: 'etcd' });
  expect(Object.keys(annotationsOf(management))).not.toContain(movedDataAnnotation);
  expect(Object.keys(annotationsOf(management))).not.toContain(prepareMoveAnnotation);
}

describe('a move that was interrupted, so that both management clusters have the control plane', () => {
  /** Both Clusters are resumed by a person, and the preparation is taken back where it was. */
  async function contended() {
    const source = await prepared();
    const { to } = await ClusterctlMove.copy(source);
    to.etcd.clusterId = 'b2';
    for (const management of [source, to]) await setPaused(management, false);
    await annotate(source, null);
    return { source, to };
  }

  it.each(['the source', 'the target'])(
    'serves in one only, if %s is first to act',
    async (first) => {
      const { source, to } = await contended();
      const [winner, other] = first === 'the source' ? [source, to] : [to, source];
      await operate(winner, isReady(winner));
      let rounds = 0;
      await operate(other, () => {
        expect(serves(other)).toBe(false);
        return ++rounds > 20;
      });
      const says = first === 'the source' ? reasonOf(to, 'EtcdRestoreReady') : reasonOf(source);
      expect(says).toMatch(/^False (BackupUnusable|MovedAway)/);
      expect(says).toContain(winner.hostedControlPlane.metadata.uid);
    },
    60_000,
  );

  it('serves in one only, while both act and crash', async () => {
    const { source, to } = await contended();
    const sides = [source, to];
    for (let requests = 20; !sides.some((side) => isReady(side)()); requests += 7) {
      if (requests > 400) throw new Error(sides.map((side) => reasonOf(side)).join('\n'));
      for (const side of sides) {
        let rounds = 0;
        await operate(side, () => ++rounds > 4, new Life({ requests }));
        expect(sides.filter(serves).length).toBeLessThanOrEqual(1);
      }
    }
  }, 120_000);

  it('stays stopped where it was while the bucket does not answer, and says how to decide without it', async () => {
    const { source } = await contended();
    const host = Buffer.from('http://127.0.0.1:1').toString('base64');
    await source.user.mergePatch(Secret, { namespace, name: 's3' }, { data: { host } }, user);
    await operate(source, () => reasonOf(source).startsWith('False StoreUnavailable'));
    expect(reasonOf(source)).toContain(`remove the annotation ${movedDataAnnotation}`);
    expect(serves(source)).toBe(false);
    const annotations = { [movedDataAnnotation]: null };
    await source.user.mergePatch(HostedControlPlane, ourName, { metadata: { annotations } }, user);
    await operate(source, () => serves(source));
  }, 60_000);
});
