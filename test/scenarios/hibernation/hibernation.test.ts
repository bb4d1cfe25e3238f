import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clusterNameLabel, hibernateWithMachinesAnnotation } from '../../../constructs/api/group.ts';
import {
  Deployment,
  Event,
  HostedControlPlane,
  Machine,
  PersistentVolumeClaim,
  Pod,
  Secret,
  Service,
  StatefulSet,
} from '../../../constructs/api/resources.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { BackedUpCluster } from '../../support/loop/backed-up-cluster.ts';
import { Life } from '../../support/loop/life.ts';
import { type MemoryCluster, ourName } from '../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { completeCluster, everyCrash, orderedCluster, settleBy, settleForGood } from '../../support/loop/scenario.ts';
import { ObjectStoreServer } from '../../support/object-store-server.ts';
import { clusterName, namespace } from '../../support/scope.ts';

const somebody = { fieldManager: 'somebody' };
const asleep = { hibernate: true };

let complete: MemoryCluster;
beforeAll(async () => {
  complete = await completeCluster();
});

type Scaled = KubeObject & { readonly spec?: { readonly replicas?: number } };

/** Desired replicas of each component. */
function replicasIn({ objects }: MemoryCluster): Record<string, number | undefined> {
  const workloads = [
    [StatefulSet, 'c1-etcd'],
    [Deployment, 'c1-api-server'],
    [Deployment, 'c1-controller-manager'],
    [Deployment, 'c1-scheduler'],
  ] as const;
  return Object.fromEntries(
    workloads.map(([resource, name]) => [name, objects.get<Scaled>(resource, name)?.spec?.replicas]),
  );
}

const allStopped = { 'c1-etcd': 0, 'c1-api-server': 0, 'c1-controller-manager': 0, 'c1-scheduler': 0 };

function conditionIn({ conditions }: MemoryCluster, type: string): string {
  const found = conditions.find((condition) => condition.type === type);
  return `${found?.status} ${found?.reason}: ${found?.message}`;
}

/** Type and reason of every event. */
function eventsIn({ objects }: MemoryCluster): string[] {
  return objects
    .list<KubeObject & { spec?: never; type?: string; reason?: string }>(Event, {})
    .map(({ type, reason }) => `${type} ${reason}`);
}

/** What a control plane must have again when it wakes up: volumes, ways in, and everything that is secret. */
function identityOf({ objects }: MemoryCluster): string[] {
  const data = objects
    .list<KubeObject & { spec?: never; data?: unknown }>(Secret, {})
    .map(({ metadata, data: content }) => `${metadata.name} ${JSON.stringify(content)}`);
  const uids = [PersistentVolumeClaim, Service].flatMap((resource) =>
    objects.list(resource, {}).map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.uid}`),
  );
  return [...data, ...uids].sort();
}

describe('a control plane that is to hibernate', () => {
  it('stops everything, and keeps its volumes, ways in, certificates and keys', async () => {
    const management = complete.copy();
    const before = identityOf(management);
    await management.change(asleep);
    await settleForGood(management);
    expect(replicasIn(management)).toEqual(allStopped);
    expect(management.objects.list(Pod, {})).toEqual([]);
    expect(identityOf(management)).toEqual(before);
  });

  it('says so, and that nothing has failed', async () => {
    const management = complete.copy();
    await management.change(asleep);
    const operator = await settleBy(management);
    expect(operator.errors).toEqual([]);
    for (const type of ['Ready', 'Available', 'Awake', 'ControlPlaneComponentsHealthy'])
      expect(conditionIn(management, type)).toMatch(/^False Hibernated: .*set spec\.hibernate to false/);
    expect(conditionIn(management, 'EtcdClusterHealthy')).toMatch(/^Unknown HealthUnknown/);
    expect(conditionIn(management, 'ScalingUp')).toMatch(/^False NotScalingUp/);
    expect(conditionIn(management, 'CertificatesAvailable')).toMatch(/^True/);
    expect(management.hostedControlPlane).toMatchObject({ status: { summary: 'Hibernated' } });
    await management.change({ hibernate: null });
    const waking = await OperatorProcess.start(management);
    await waking.reconcile();
    expect(conditionIn(management, 'Available')).toMatch(/^False (Hibernated|WakingUp)/);
    await waking.untilSettled();
    await waking.stop();
    expect(management.hostedControlPlane).toMatchObject({ status: { summary: 'Ready' } });
    expect(eventsIn(management).filter((event) => event.startsWith('Warning'))).toEqual([]);
  });

  it('is the same as before when it wakes up, whenever operators crash on both ways', async () => {
    const management = complete.copy();
    const before = { replicas: replicasIn(management), identity: identityOf(management) };
    await management.change(asleep);
    for (const { moment, cluster } of await everyCrash(management)) {
      await settleBy(cluster);
      expect(replicasIn(cluster), `after ${moment}`).toEqual(allStopped);
    }
    await management.change({ hibernate: null });
    const crashes = await everyCrash(management);
    expect(crashes.length).toBeGreaterThan(3);
    for (const { moment, cluster } of [...crashes, { moment: 'the end', cluster: management }]) {
      await settleForGood(cluster);
      expect(conditionIn(cluster, 'Ready'), `after ${moment}`).toMatch(/^True/);
      expect(replicasIn(cluster), `after ${moment}`).toEqual(before.replicas);
      expect(identityOf(cluster), `after ${moment}`).toEqual(before.identity);
    }
  }, 60_000);

  it('creates no pod before it wakes up, if it was created so', async () => {
    const management = await orderedCluster(asleep);
    await settleBy(management);
    expect(management.objects.list(Pod, {})).toEqual([]);
    expect(conditionIn(management, 'Ready')).toMatch(/^False Hibernated/);
    await management.change({ hibernate: null });
    await settleForGood(management);
    expect(conditionIn(management, 'Ready')).toMatch(/^True/);
  });

  it('renews certificates meanwhile', async () => {
    const management = complete.copy();
    await management.change(asleep);
    await settleBy(management);
    await management.user.delete(Secret, { namespace, name: 'c1-scheduler' });
    await management.clock.advance(24 * 3_600_000);
    await settleBy(management);
    expect(management.objects.get(Secret, 'c1-scheduler')).toBeDefined();
    expect(management.objects.list(Pod, {})).toEqual([]);
  });

  it('is deleted from its sleep', async () => {
    const management = complete.copy();
    await management.change(asleep);
    await settleBy(management);
    await management.user.delete(HostedControlPlane, ourName);
    await settleBy(management);
    expect(management.objects.list(PersistentVolumeClaim, {})).toEqual([]);
  });
});

describe('a control plane with Machines', () => {
  async function withMachine(): Promise<MemoryCluster> {
    const management = complete.copy();
    const labels = { [clusterNameLabel]: clusterName };
    const { apiVersion, kind } = Machine;
    const machine = { apiVersion, kind, metadata: { namespace, name: 'm1', labels }, spec: { clusterName } };
    await management.user.create(machine, somebody);
    return management;
  }

  it('runs on, and says what to do', async () => {
    const management = await withMachine();
    const before = replicasIn(management);
    await management.change(asleep);
    await settleForGood(management);
    expect(replicasIn(management)).toEqual(before);
    expect(conditionIn(management, 'Awake')).toMatch(/^True HibernationRefused: 1 Machines.*hibernate-with-machines/);
    expect(conditionIn(management, 'Ready')).toMatch(/^True/);
    expect(eventsIn(management)).toContain('Warning HibernationRefused');
  });

  it('hibernates if its owner accepts that', async () => {
    const management = await withMachine();
    const annotations = { [hibernateWithMachinesAnnotation]: 'true' };
    await management.user.mergePatch(HostedControlPlane, ourName, { metadata: { annotations } }, somebody);
    await management.change(asleep);
    await settleBy(management);
    expect(replicasIn(management)).toEqual(allStopped);
  });
});

describe('a control plane with backups', () => {
  let bucket: ObjectStoreServer;
  beforeAll(async () => {
    bucket = await ObjectStoreServer.start();
  });
  afterAll(() => bucket.stop());

  /** Requests to the bucket take real time. */
  async function operate(management: MemoryCluster, holds: () => boolean): Promise<void> {
    const operator = await OperatorProcess.start(management, new Life());
    for (let round = 0; round < 200 && !holds(); round++) {
      await operator.reconcile();
      management.settle();
      await operator.untilObserved();
      await pause(1);
      await management.clock.advance(500);
    }
    await operator.stop();
    if (!holds()) throw new Error(conditionIn(management, 'Awake'));
  }

  it('stops etcd when a backup holds all data, and takes none meanwhile', async () => {
    const site = await BackedUpCluster.start(bucket, 'a1', 0);
    await site.operator.stop();
    const { cluster } = site;
    const manifests = () => [...bucket.objects.keys()].filter((key) => key.endsWith('/manifest.json')).length;
    await operate(cluster, () => manifests() > 0);
    const before = manifests();
    await cluster.change(asleep);
    let stoppedBefore: number | undefined;
    await operate(cluster, () => {
      if (replicasIn(cluster)['c1-etcd'] === 0) stoppedBefore ??= site.status.etcd?.backup?.takenFor?.length ?? 0;
      return conditionIn(cluster, 'Awake').startsWith('False Hibernated');
    });
    expect(stoppedBefore).toBe(1);
    const { size } = bucket.objects;
    expect(before).toBeGreaterThan(0);
    await cluster.clock.advance(24 * 3_600_000);
    await settleBy(cluster);
    expect(bucket.objects.size).toBe(size);
    expect(conditionIn(cluster, 'EtcdBackupReady')).toMatch(/^True .*continue when the control plane wakes up/);
  });
});

it('a hibernation is in the status from its start until no kubelet is missing after it', async () => {
  const hibernationOf = ({ hostedControlPlane }: MemoryCluster) =>
    (hostedControlPlane as { status?: { hibernation?: { since: string; until?: string } } }).status?.hibernation;
  const management = complete.copy();
  await management.change(asleep);
  await settleBy(management);
  const { since } = hibernationOf(management) ?? {};
  expect(since).toBeDefined();
  await management.clock.advance(24 * 3_600_000);
  await settleBy(management);
  expect(hibernationOf(management)).toEqual({ since });
  await management.change({ hibernate: null });
  await settleBy(management);
  expect(hibernationOf(management)).toMatchObject({ since, until: expect.any(String) });
  await management.clock.advance(10 * 60_000);
  await settleBy(management);
  expect(hibernationOf(management)).toBeUndefined();
});
