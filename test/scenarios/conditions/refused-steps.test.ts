import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepareMoveAnnotation } from '../../../constructs/api/group.ts';
import {
  ClusterRole,
  Deployment,
  HostedControlPlane,
  Pod,
  ResourceQuota,
  StatefulSet,
} from '../../../constructs/api/resources.ts';
import { providerNames } from '../../../constructs/cluster/provider-names.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { BackedUpCluster } from '../../support/loop/backed-up-cluster.ts';
import { type MemoryCluster, ourName } from '../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { installRights } from '../../support/loop/shipped-rights.ts';
import { completeCluster, smallestSpec } from '../../support/loop/scenario.ts';
import { withoutRight } from '../../support/loop/unused-rights.ts';
import { verifyAtOnce } from '../../support/loop/verified-at-once.ts';
import { PriorityClass } from '../../support/memory-cluster/admission/priorities.ts';
import { ObjectStoreServer } from '../../support/object-store-server.ts';
import { namespace } from '../../support/scope.ts';
import { isTrue } from './operate.ts';
import { underQuota } from './surroundings.ts';

let bucket: ObjectStoreServer;
beforeAll(async () => {
  bucket = await ObjectStoreServer.start();
  verifyAtOnce(bucket);
});
afterAll(() => bucket.stop());

const user = { fieldManager: 'user' };

/** A step that stops or changes something that runs, and what a user sees of its refusal. */
interface Step {
  readonly name: string;
  readonly request: (cluster: MemoryCluster) => Promise<unknown>;
  /** The condition that reports the refusal. */
  readonly condition: string;
  readonly reason: string;
  /** Whether it has come to its end once nothing refuses it. */
  readonly isDone: (cluster: MemoryCluster) => boolean;
  /** What lets the control plane run again afterwards. */
  readonly end?: (cluster: MemoryCluster) => Promise<unknown>;
}

const conditionOf = ({ conditions }: MemoryCluster, type: string) => conditions.find((one) => one.type === type);
const textOf = ({ objects }: MemoryCluster, kind: typeof Deployment, name: string) =>
  JSON.stringify(objects.get(kind, name));
const annotate = ({ user: client }: MemoryCluster, annotations: object) =>
  client.mergePatch(HostedControlPlane, ourName, { metadata: { annotations } }, user);
const restoreOf = ({ hostedControlPlane }: MemoryCluster) =>
  (hostedControlPlane as { status?: { etcd?: { restore?: { step?: string } } } }).status?.etcd?.restore;

const steps: readonly Step[] = [
  {
    name: 'a restore',
    request: (cluster) => cluster.change({ etcd: { restore: { latest: true } } }),
    condition: 'EtcdRestoreReady',
    reason: 'RestoreRefused',
    isDone: (cluster) => restoreOf(cluster)?.step === 'Completed',
  },
  {
    name: 'a hibernation',
    request: (cluster) => cluster.change({ hibernate: true }),
    condition: 'Awake',
    reason: 'HibernationRefused',
    isDone: (cluster) => conditionOf(cluster, 'Awake')?.reason === 'Hibernated',
    end: (cluster) => cluster.change({ hibernate: false }),
  },
  {
    name: 'a move',
    request: (cluster) => annotate(cluster, { [prepareMoveAnnotation]: 'now' }),
    condition: 'NoMovePending',
    reason: 'MoveRefused',
    isDone: (cluster) => conditionOf(cluster, 'NoMovePending')?.reason === 'PreparedForMove',
    end: (cluster) => annotate(cluster, { [prepareMoveAnnotation]: null }),
  },
  {
    name: 'a new template of the only member of etcd',
    request: (cluster) => cluster.change({ etcd: { env: [{ name: 'GOGC', value: '50' }] } }),
    condition: 'EtcdClusterReady',
    reason: 'RolloutRefused',
    isDone: (cluster) => textOf(cluster, Pod, 'c1-etcd-0').includes('GOGC'),
  },
  {
    name: 'another argument of the API servers',
    request: (cluster) => cluster.change({ deployment: { apiServer: { args: { 'event-ttl': '2h' } } } }),
    condition: 'APIServerConfigurationAccepted',
    reason: 'CheckRefused',
    isDone: (cluster) => textOf(cluster, Deployment, 'c1-api-server').includes('--event-ttl=2h'),
  },
];

/** Something that a user or administrator has done wrong. */
interface Mistake {
  readonly name: string;
  readonly make: (cluster: MemoryCluster) => Promise<unknown>;
  readonly undo: (cluster: MemoryCluster) => Promise<unknown>;
  /** In the condition: what is refused. */
  readonly words: string;
  /** And what to do. */
  readonly advice: string;
}

const typo = { priorityClassName: 'typo' };

const mistakes: readonly Mistake[] = [
  {
    name: 'a quota on limits, without `resources` in the spec',
    make: underQuota,
    undo: ({ user: client }) => client.delete(ResourceQuota, { namespace, name: 'quota' }),
    words: 'failed quota: quota: must specify',
    advice: 'set `resources` of the component, or defaults in a LimitRange of the namespace',
  },
  {
    name: 'a PriorityClass that does not exist',
    make: (cluster) => cluster.change({ deployment: { defaults: typo } }),
    async undo({ user: client }) {
      const { apiVersion, kind } = PriorityClass;
      await client.apply({ apiVersion, kind, metadata: { name: 'typo' } }, { ...user, resource: PriorityClass });
    },
    words: 'no PriorityClass with name typo was found',
    advice: 'create the PriorityClass, or correct `priorityClassName`',
  },
  {
    name: 'an operator without a right of its installation',
    async make({ management: { store } }) {
      const role = store.find(ClusterRole, { name: providerNames.managerRole });
      if (!role) throw new Error('the operator has no ClusterRole');
      store.put(withoutRight(role, 'delete', 'pods'));
    },
    undo: async ({ management }) => installRights(management),
    words: 'cannot delete resource "pods"',
    advice: 'give the operator the rights of its installation',
  },
];

type Scaled = KubeObject & { readonly spec?: { readonly replicas?: number } };

/** What runs: pods of etcd and of the API servers by their uids, and how many are wanted. */
function whatRuns({ objects }: MemoryCluster): unknown {
  const wanted = [objects.get<Scaled>(StatefulSet, 'c1-etcd'), objects.get<Scaled>(Deployment, 'c1-api-server')];
  const pods = ['c1-etcd-0', 'c1-api-server-0'].map((name) => objects.get(Pod, name)?.metadata.uid);
  return [...wanted.map((workload) => workload?.spec?.replicas), ...pods];
}

/** More than the time between two tries. */
const laterMs = 31_000;

async function running(): Promise<BackedUpCluster> {
  bucket.objects.clear();
  const site = await BackedUpCluster.start(bucket, 'a1', 0, { encryptionAtRest: { provider: 'None' } });
  await site.backUp(0);
  await site.operator.untilSettled();
  return site;
}

/** Reconciles until a condition holds, while time passes. */
const runUntil = (site: BackedUpCluster, what: string, holds: () => boolean): Promise<void> =>
  site.operator.reconcileUntil(what, holds, laterMs);

describe.each(mistakes)('with $name', ({ make, undo, words, advice }) => {
  it.each(steps)(
    '$name stops nothing, says why, and comes to its end when the mistake is undone',
    async ({ request, condition, reason, isDone, end }) => {
      const site = await running();
      const { cluster } = site;
      await make(cluster);
      const before = whatRuns(cluster);
      await request(cluster);
      const isRefused = () => conditionOf(cluster, condition)?.reason === reason;
      await runUntil(site, `${condition} ${reason}`, isRefused);
      for (let round = 0; round < 5; round++) {
        await cluster.clock.advance(laterMs);
        await site.operator.rounds(1);
      }
      const { reason: told, message = '' } = conditionOf(cluster, condition) ?? {};
      expect(told).toBe(reason);
      expect(message).toContain(words);
      expect(message).toContain(advice);
      expect(whatRuns(cluster)).toEqual(before);
      expect(site.operator.errors).toEqual([]);

      await undo(cluster);
      await runUntil(site, 'the end of the step', () => isDone(cluster));
      await end?.(cluster);
      await runUntil(site, 'Ready', () => isTrue(cluster));
      await site.operator.stop();
    },
    60_000,
  );
});

describe('under a quota that is exactly used up', () => {
  it.each(steps.filter(({ reason }) => reason !== 'CheckRefused'))(
    '$name goes on, because its pods follow others',
    async ({ request, isDone, end }) => {
      const site = await running();
      const { cluster } = site;
      const { apiVersion, kind } = ResourceQuota;
      const hard = { pods: String(cluster.objects.list(Pod, {}).length) };
      await cluster.user.create({ apiVersion, kind, metadata: { name: 'quota', namespace }, spec: { hard } }, user);
      await request(cluster);
      await runUntil(site, 'the end of the step', () => isDone(cluster));
      await end?.(cluster);
      await runUntil(site, 'Ready', () => isTrue(cluster));
      expect(site.operator.errors).toEqual([]);
      await site.operator.stop();
    },
    60_000,
  );
});

describe('under a quota that has room for each object, and not for all of them', () => {
  it.each([
    ['pods', '4', 'requested: pods=6 by 6 objects at the same time, used: pods=4, limited: pods=4'],
    ['persistentvolumeclaims', '2', 'requested: persistentvolumeclaims=2 by '],
  ])(
    'a restore to more members stops nothing, and says why: %s',
    async (what, most, words) => {
      const site = await running();
      const { cluster } = site;
      const { apiVersion, kind } = ResourceQuota;
      const metadata = { name: 'quota', namespace };
      await cluster.user.create({ apiVersion, kind, metadata, spec: { hard: { [what]: most } } }, user);
      const before = whatRuns(cluster);
      await cluster.change({ etcd: { replicas: 3, restore: { latest: true } } });
      const told = () => conditionOf(cluster, 'EtcdRestoreReady');
      await runUntil(site, 'the refusal', () => told()?.reason === 'RestoreRefused');
      await site.operator.rounds(3);
      expect(told()?.message).toContain(words);
      expect(told()?.message).toContain('raise the quota, or lower `resources`');
      expect(whatRuns(cluster)).toEqual(before);

      await cluster.user.delete(ResourceQuota, metadata);
      await runUntil(site, 'the end of the step', () => restoreOf(cluster)?.step === 'Completed');
      await runUntil(site, 'Ready', () => isTrue(cluster));
      expect(site.operator.errors).toEqual([]);
      await site.operator.stop();
    },
    60_000,
  );
});

const probes = ({ objects }: MemoryCluster) =>
  objects.list(Pod, {}).filter(({ metadata }) => metadata.name.includes('probe'));
const words = "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.";
const none = { disk: 'none' };

/** A control plane with this many members of etcd, and its operator. */
async function withMembers(replicas: number) {
  const cluster = await completeCluster({ ...smallestSpec, etcd: { replicas } });
  const operator = await OperatorProcess.start(cluster);
  const until = (what: string, holds: () => boolean) => operator.reconcileUntil(what, holds, laterMs);
  const reasonOf = (type: string) => conditionOf(cluster, type)?.reason;
  return { cluster, operator, until, reasonOf };
}

describe('another placement', () => {
  it.each([1, 3])(
    'of %i members of etcd is refused with the words of the scheduler if no node fits, and members and template stay until it is taken back',
    async (replicas) => {
      const { cluster, operator, until, reasonOf } = await withMembers(replicas);
      const before = whatRuns(cluster);
      await cluster.change({ etcd: { nodeSelector: none } });
      await until('the refusal', () => reasonOf('EtcdClusterReady') === 'RolloutRefused');
      await operator.rounds(3);
      expect(conditionOf(cluster, 'EtcdClusterReady')?.message).toBe(
        `etcd: the members keep their pods and template: the pod c1-etcd-0 would find no node: ${words}: correct nodeSelector, affinity, tolerations or resources, or add a node`,
      );
      expect(whatRuns(cluster)).toEqual(before);
      expect(textOf(cluster, StatefulSet, 'c1-etcd')).not.toContain('disk');
      expect(probes(cluster).length).toBeGreaterThan(1);
      for (const { metadata } of probes(cluster))
        expect(metadata.ownerReferences).toMatchObject([{ name: ourName.name }]);
      await cluster.change({ etcd: { nodeSelector: null } });
      await until('Ready', () => isTrue(cluster));
      expect(whatRuns(cluster)).toEqual(before);
      expect(probes(cluster)).toEqual([]);
      await operator.stop();
    },
  );

  it('of one of three members that finds no node keeps them all', async () => {
    const { cluster, operator, until, reasonOf } = await withMembers(3);
    cluster.unplaced = 'c1-etcd-2';
    const before = whatRuns(cluster);
    await cluster.change({ etcd: { resources: { requests: { cpu: '300m' } } } });
    await until('the refusal', () => reasonOf('EtcdClusterReady') === 'RolloutRefused');
    expect(conditionOf(cluster, 'EtcdClusterReady')?.message).toContain('the pod c1-etcd-2 would find no node');
    expect(whatRuns(cluster)).toEqual(before);
    cluster.unplaced = undefined;
    await until('other pods', () => textOf(cluster, Pod, 'c1-etcd-2').includes('300m'));
    await until('Ready', () => isTrue(cluster));
    expect(probes(cluster)).toEqual([]);
    await operator.stop();
  });

  it('of everything leaves the only member of etcd and the only API server serving', async () => {
    const { cluster, operator, until, reasonOf } = await withMembers(1);
    cluster.startsNot = '"disk":"none"';
    const before = whatRuns(cluster);
    await cluster.change({ deployment: { defaults: { nodeSelector: none } } });
    await until('the end of the revision', () => reasonOf('SpecAccepted') === 'RevisionFailed');
    await operator.rounds(3);
    expect(whatRuns(cluster)).toEqual(before);
    expect(conditionOf(cluster, 'Available')?.status).toBe('True');
    await cluster.change({ deployment: { defaults: { nodeSelector: null } } });
    await until('Ready', () => isTrue(cluster));
    expect(probes(cluster)).toEqual([]);
    expect(operator.errors).toEqual([]);
    await operator.stop();
  });

  it.each([1, 3])(
    'is taken over by %i members once probe pods have found nodes, which are gone before a member is replaced',
    async (replicas) => {
      const { cluster, operator, until } = await withMembers(replicas);
      const before = cluster.objects.get(Pod, 'c1-etcd-0')?.metadata.uid;
      await cluster.change({ etcd: { resources: { requests: { cpu: '300m' } } } });
      await until('the probes', () => probes(cluster).length === replicas);
      expect(cluster.objects.get(Pod, 'c1-etcd-0')?.metadata.uid).toBe(before);
      await until('another pod', () => textOf(cluster, Pod, 'c1-etcd-0').includes('300m'));
      expect(probes(cluster)).toEqual([]);
      await until('Ready', () => isTrue(cluster));
      expect(operator.errors).toEqual([]);
      await operator.stop();
    },
  );

  it('leaves no probe pods behind an operator that was killed, nor a control plane that hibernates', async () => {
    const { cluster, operator, until } = await withMembers(1);
    await cluster.change({ etcd: { nodeSelector: none } });
    await until('the probes', () => probes(cluster).length === 2);
    operator.kill();
    const next = await OperatorProcess.start(cluster);
    await next.rounds(3);
    expect(probes(cluster).length).toBe(2);
    await cluster.change({ hibernate: true });
    await next.reconcileUntil('Hibernated', () => conditionOf(cluster, 'Awake')?.reason === 'Hibernated', laterMs);
    expect(probes(cluster)).toEqual([]);
    await next.stop();
  });
});
