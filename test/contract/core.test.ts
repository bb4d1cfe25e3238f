import { beforeAll, describe, expect, it } from 'vitest';
import { Cluster, ConfigMap, Deployment, HostedControlPlane, Pod, Secret } from '../../constructs/api/resources.ts';
import { selectorLabels } from '../../constructs/cluster/labels.ts';
import { etcdFormedAnnotation, blockMoveAnnotation } from '../../constructs/api/group.ts';
import { Life } from '../support/loop/life.ts';
import { type MemoryCluster, ourName } from '../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../support/loop/operator-process.ts';
import { completeCluster, orderedCluster, settleBy } from '../support/loop/scenario.ts';
import type { StoredObject } from '../support/memory-objects.ts';
import { clusterName, namespace } from '../support/scope.ts';
import {
  allowsMachine,
  isInitialized,
  isScaling,
  isStable,
  isUpgrading,
  problemsFor,
  type ReadByCore,
} from './core.ts';

const user = { fieldManager: 'user' };
const version = 'v1.35.6';
const newer = 'v1.36.3';

let complete: MemoryCluster;
beforeAll(async () => {
  complete = await completeCluster({ version });
});

const read = ({ hostedControlPlane }: MemoryCluster) => hostedControlPlane as unknown as ReadByCore;

const conditionOf = ({ conditions }: MemoryCluster, type: string) =>
  conditions.find((condition) => condition.type === type)?.status;

describe('a control plane', () => {
  it.each<[string, (management: MemoryCluster) => Promise<unknown>, boolean]>([
    ['its bring-up', () => Promise.resolve(), true],
    ['an upgrade', (management) => management.change({ version: newer }), false],
    ['a scale up', (management) => management.change({ replicas: 3 }), false],
    ['a scale down', (management) => management.change({ replicas: 1 }), false],
    ['a refused spec', (management) => management.change({ version: 'v1.99.0' }), false],
    ['a reconcile without status', (management) => withoutStatus(management), false],
    ['its deletion', ({ user: client }) => client.delete(HostedControlPlane, ourName), false],
  ])('is readable by core after every write of %s', async (_, change, isNew) => {
    const management = isNew ? await orderedCluster({ version }) : complete.copy();
    const problems: string[] = [];
    let last: ReadByCore | undefined;
    const after = (write: string) => {
      if (!management.objects.get(HostedControlPlane, ourName.name)) return;
      const now = read(management);
      const found = [...problemsFor(now, last), ...(isInitialized(now) ? missingForWorkers(management) : [])];
      problems.push(...found.map((problem) => `after ${write}: ${problem}`));
      last = now;
    };
    const operator = await OperatorProcess.start(management, new Life({ after }));
    await change(management);
    await operator.untilSettled();
    await operator.stop();
    expect(problems).toEqual([]);
  });

  it('is stable for core when it is settled', () => {
    const now = read(complete);
    expect(isInitialized(now)).toBe(true);
    expect(isStable(now)).toBe(true);
    expect(isScaling(now)).toBe(false);
    expect([version, 'v1.35.9', 'v1.34.6'].map((machine) => allowsMachine(now, machine))).toEqual([true, true, false]);
  });

  it('is upgraded for core no earlier than its last old API server is gone', async () => {
    const management = complete.copy();
    const [old] = apiServersIn(management);
    if (!old) throw new Error('no API server runs');
    const operator = await OperatorProcess.start(management);
    await management.change({ version: newer, upgrade: { hold: '0s' } });
    expect(isUpgrading(read(management))).toBe(true);
    await operator.untilObserved();
    await operator.reconcile();
    // The Deployment's controller has not counted by the new template yet.
    expect(read(management)).toMatchObject({ status: { replicas: 2, upToDateReplicas: 0 } });
    await operator.rounds(4);
    const { uid: _, ...metadata } = old.metadata;
    const deletionTimestamp = new Date(management.clock.now()).toISOString();
    const terminating = { ...old, metadata: { ...metadata, name: 'the-last-old-one', deletionTimestamp } };
    management.objects.put(terminating);
    await operator.untilObserved();
    await operator.reconcile();
    expect(read(management)).toMatchObject({ status: { version, versions: [{ version }, { version: newer }] } });
    expect([isUpgrading(read(management)), conditionOf(management, 'RollingOut')]).toEqual([true, 'True']);
    expect(allowsMachine(read(management), newer)).toBe(false);

    management.objects.remove(terminating);
    await operator.untilSettled();
    await operator.stop();
    expect([isStable(read(management)), conditionOf(management, 'RollingOut')]).toEqual([true, 'False']);
    expect(allowsMachine(read(management), newer)).toBe(true);
  });

  it('is not upgraded for core, and gets no Machine, while newer binaries emulate its version', async () => {
    const management = complete.copy();
    await management.change({ version: newer, upgrade: { hold: '1h' } });
    await settleBy(management);
    expect(conditionOf(management, 'UpgradeHoldEnded')).toBe('False');
    expect([isUpgrading(read(management)), conditionOf(management, 'RollingOut')]).toEqual([true, 'True']);
    expect([version, newer].map((machine) => allowsMachine(read(management), machine))).toEqual([false, false]);

    await management.change({ version });
    await settleBy(management);
    expect([isStable(read(management)), conditionOf(management, 'RollingOut')]).toEqual([true, 'False']);
    expect(allowsMachine(read(management), version)).toBe(true);
  });

  it.each([
    [3, 'ScalingUp'],
    [1, 'ScalingDown'],
  ])('is scaled for core while its number of API servers differs', async (replicas, condition) => {
    const management = complete.copy();
    const operator = await OperatorProcess.start(management);
    await management.change({ replicas });
    expect(isScaling(read(management))).toBe(true);
    await operator.untilObserved();
    await operator.reconcile();
    expect(isScaling(read(management))).toBe(true);
    expect(conditionOf(management, condition)).toBe('True');
    await operator.untilSettled();
    await operator.stop();
    expect(isScaling(read(management))).toBe(false);
    expect(conditionOf(management, condition)).toBe('False');
  });

  it('counts by its selector the API servers that its counters have', () => {
    const { status } = read(complete);
    const labels = Object.fromEntries((status?.selector ?? '').split(',').map((pair) => pair.split('=')));
    const selected = complete.objects.list(Pod, labels as Record<string, string>).map(({ metadata }) => metadata.name);
    expect(selected).toEqual(apiServersIn(complete).map(({ metadata }) => metadata.name));
    expect(selected).toHaveLength(status?.replicas ?? -1);
  });

  it('is initialized although the infrastructure is never provisioned', async () => {
    const management = await orderedCluster({ version });
    const infrastructureRef = { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'BoxCluster', name: 'missing' };
    const patch = { spec: { infrastructureRef } };
    await management.user.mergePatch(Cluster, { namespace, name: clusterName }, patch, user);
    const operator = await OperatorProcess.start(management);
    await operator.untilSettled();
    await operator.stop();
    expect(isInitialized(read(management))).toBe(true);
  });

  it('finds everything under the name of the Cluster', () => {
    expect(ourName.name).not.toBe(clusterName);
    const made = complete.objects.objects.filter(({ kind }) => !['Event', 'HostedControlPlane'].includes(kind));
    expect(made.length).toBeGreaterThan(30);
    expect(made.filter(({ metadata }) => metadata.name.includes(ourName.name))).toEqual([]);
  });

  it('has no object that core takes for a control plane Machine', () => {
    const labelled = complete.objects.objects.filter(
      ({ metadata }) => metadata.labels?.['cluster.x-k8s.io/control-plane'] !== undefined,
    );
    expect(labelled).toEqual([]);
  });

  it('reports the same again when its status was lost, and changes nothing else', async () => {
    const management = complete.copy();
    const before = withoutTimes(management.hostedControlPlane['status']);
    await withoutStatus(management);
    const operator = await OperatorProcess.start(management);
    await operator.untilSettled();
    await operator.stop();
    expect(withoutTimes(management.hostedControlPlane['status'])).toEqual(before);
    const written = management.management.writes.filter((write) => !/ (Event|HostedControlPlane) /.test(write));
    expect(written).toEqual([]);
    expect(Object.keys(management.hostedControlPlane.metadata.annotations ?? {}).sort()).toEqual(
      [etcdFormedAnnotation, blockMoveAnnotation].sort(),
    );
  });
});

/** What bootstrap providers, joining workers and clusterctl read, and do not find. */
function missingForWorkers({ hosted, hostedControlPlane, objects }: MemoryCluster): string[] {
  const secrets = ['kubeconfig', 'ca'].map((purpose) => `${clusterName}-${purpose}`);
  const uploaded = [
    { namespace: 'kube-public', name: 'cluster-info' },
    { namespace: 'kube-system', name: 'kubeadm-config' },
    { namespace: 'kube-system', name: 'kubelet-config' },
  ];
  // The deletion takes them away in the end.
  if (!objects.get(Deployment, `${clusterName}-api-server`)) return [];
  // From now on clusterctl would move it, and leave the data of etcd behind.
  const isBlocked = hostedControlPlane.metadata.annotations?.[blockMoveAnnotation] !== undefined;
  return [
    ...(isBlocked ? [] : ['no annotation blocks a move']),
    ...secrets.filter((name) => !objects.get(Secret, name)).map((name) => `Secret ${name} is missing`),
    ...uploaded.filter((key) => !hosted.store.find(ConfigMap, key)).map(({ name }) => `ConfigMap ${name} is missing`),
  ];
}

function apiServersIn({ objects }: MemoryCluster): StoredObject[] {
  return objects.list<StoredObject>(Pod, selectorLabels(clusterName, 'api-server'));
}

/** As after `clusterctl move`, and on objects that are created again from their manifests. */
async function withoutStatus({ user: client }: MemoryCluster): Promise<void> {
  const lost = { fieldManager: 'user', subresource: 'status' } as const;
  await client.mergePatch(HostedControlPlane, ourName, { status: null }, lost);
}

/** The text without times of transitions, which are those of the new status. */
const withoutTimes = (status: unknown): unknown =>
  JSON.parse(JSON.stringify(status, (key, value: unknown) => (key === 'lastTransitionTime' ? undefined : value)));
