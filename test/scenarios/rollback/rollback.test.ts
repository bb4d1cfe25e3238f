import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, PersistentVolumeClaim, Pod, StatefulSet } from '../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import { versionAnnotation } from '../../../constructs/pod/component.ts';
import { completedRequests, restoredAnnotations } from '../../../reconciler/backup/restore/observe-restore.ts';
import { BackedUpCluster } from '../../support/loop/backed-up-cluster.ts';
import { Life } from '../../support/loop/life.ts';
import type { MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { ObjectStoreServer } from '../../support/object-store-server.ts';
import { clusterName } from '../../support/scope.ts';

const [before, after] = ['v1.36.3', 'v1.37.1'];
/** No API server has to load keys before all is settled. */
const unencrypted = { encryptionAtRest: { provider: 'None' } };

let bucket: ObjectStoreServer;
/** A control plane after an upgrade, without an operator, and the backups of before and after. */
let upgraded: MemoryCluster;
let backups: { readonly before: string; readonly after: string };
beforeAll(async () => {
  bucket = await ObjectStoreServer.start();
  const retention = { maxCount: 9 };
  const site = await BackedUpCluster.start(bucket, 'a1', 0, unencrypted);
  await site.cluster.change({ etcd: { backup: { retention } } });
  const first = await site.backUp(0);
  await site.cluster.change({ version: after, upgrade: { hold: '0s' } });
  const isUpgraded = () => {
    const { version, etcd } = rendered(site.cluster);
    return version === after && etcd === '3.7.0' && conditionOf(site.cluster, 'Ready').startsWith('True');
  };
  await site.operator.reconcileUntil('the upgrade', isUpgraded, stepMs);
  await site.operator.untilSettled();
  backups = { before: first, after: await site.backUp(3) };
  await site.operator.stop();
  upgraded = site.cluster;
}, 60_000);
afterAll(() => bucket.stop());

interface Workload {
  readonly spec?: { readonly replicas?: number; readonly template?: { readonly metadata?: { annotations?: object } } };
}

/** The version of API servers, and the image of etcd. */
function rendered({ objects }: MemoryCluster) {
  const api = objects.get<Workload & ReturnType<typeof objects.list>[number]>(Deployment, 'c1-api-server');
  const annotations = api?.spec?.template?.metadata?.annotations as Record<string, string> | undefined;
  const etcd = /etcd:([\d.]+)/.exec(JSON.stringify(objects.get(StatefulSet, 'c1-etcd')))?.[1];
  return { version: annotations?.[versionAnnotation], replicas: api?.spec?.replicas, etcd };
}

const restores = ({ objects }: MemoryCluster) =>
  objects
    .list(PersistentVolumeClaim, selectorLabels(clusterName, 'etcd'))
    .map((claim) => completedRequests(claim, restoredAnnotations.restore).length);

/** What must never be: API servers of one minor that may reach the data of the other. */
function danger(management: MemoryCluster): string | undefined {
  const { version, replicas } = rendered(management);
  const isRestored = restores(management).every((count) => count > 0);
  const pods = management.objects
    .list(Pod, selectorLabels(clusterName, 'api-server'))
    .map(({ metadata }) => metadata.annotations?.[versionAnnotation]);
  const reaching = [...pods, ...((replicas ?? 0) > 0 ? [version] : [])];
  const wrong = isRestored ? after : before;
  return reaching.includes(wrong) ? `${wrong} reaches data that is ${isRestored ? '' : 'not yet '}restored` : undefined;
}

function conditionOf({ conditions }: MemoryCluster, type: string): string {
  const found = conditions.find((condition) => condition.type === type);
  return `${found?.status} ${found?.reason}: ${found?.message}`;
}

/** Asks for the way back, as `hcp rollback` does. */
async function ask(management: MemoryCluster, backup: string): Promise<void> {
  await management.change({ version: before, etcd: { restore: { backup, request: 'back' } } });
}

/** How much time passes from one reconcile to the next. */
const stepMs = 500;

const isBack = (management: MemoryCluster) => () =>
  (management.hostedControlPlane as { status?: { version?: string } }).status?.version === before &&
  conditionOf(management, 'Ready').startsWith('True');

/** Runs an operator until the control plane is back. @returns what was dangerous meanwhile */
async function goBack(management: MemoryCluster, note: (moment: string) => void = () => {}): Promise<string[]> {
  const dangers: string[] = [];
  const life = new Life({
    after(action) {
      const found = danger(management);
      if (found !== undefined) dangers.push(`after ${action}: ${found}`);
      note(action);
    },
  });
  const operator = await OperatorProcess.start(management, life);
  await operator.reconcileUntil('the way back', isBack(management), stepMs);
  await operator.stop();
  return dangers;
}

describe('a control plane that goes back to its backup of the minor before', () => {
  it('has run with the later minor, and with its etcd', () => {
    expect(rendered(upgraded)).toEqual({ version: after, replicas: 1, etcd: '3.7.0' });
  });

  it('starts API servers of a minor only with the data of that minor, whenever the operator crashes', async () => {
    const management = upgraded.copy();
    await ask(management, backups.before);
    const crashes: { moment: string; cluster: MemoryCluster }[] = [];
    let seen = management.version;
    const dangers = await goBack(management, (moment) => {
      // Events decide nothing.
      if (management.version === seen || moment.includes('Event')) return;
      seen = management.version;
      crashes.push({ moment, cluster: management.copy() });
    });
    expect(dangers).toEqual([]);
    expect(rendered(management)).toEqual({ version: before, replicas: 1, etcd: '3.6.8' });
    expect(crashes.length).toBeGreaterThan(20);
    for (const { moment, cluster } of crashes) {
      expect(await goBack(cluster), `the operator that crashed after ${moment}`).toEqual([]);
      expect(rendered(cluster), `the operator that crashed after ${moment}`).toEqual(rendered(management));
    }
  }, 240_000);

  it.each([
    ['the backup is of the later minor', () => backups.after, 'BackupUnusable', /may not support objects of a newer/],
    ['there is no such backup', () => '2026-01-01T00-00-00.000Z-1', 'BackupNotFound', /no backup/],
  ])('keeps the later one while %s', async (_, backup, reason, message) => {
    const management = upgraded.copy();
    await ask(management, backup());
    const operator = await OperatorProcess.start(management);
    const found = () => conditionOf(management, 'EtcdRestoreReady');
    await operator.reconcileUntil(reason, () => found().startsWith(`False ${reason}`), stepMs);
    expect(found()).toMatch(message);
    expect(rendered(management)).toMatchObject({ version: after, replicas: 1 });
    expect(conditionOf(management, 'APIServerDeploymentsReady')).toMatch(/^False WaitingForRestore: API servers keep/);
    expect(conditionOf(management, 'Available')).toMatch(/^True/);

    await management.change({ etcd: { restore: null } });
    await operator.rounds(4);
    expect(conditionOf(management, 'APIServerDeploymentsReady')).toMatch(/run hcp rollback/);
    await management.change({ version: after });
    await operator.rounds(4);
    await operator.stop();
    expect(conditionOf(management, 'Ready')).toMatch(/^True/);
    expect(rendered(management)).toMatchObject({ version: after, replicas: 1 });
  });
});
