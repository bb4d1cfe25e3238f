import type { SecretObject } from '../../../imports/kubernetes.ts';
import { prepareMoveAnnotation, blockMoveAnnotation, clusterctlLabel } from '../../../constructs/api/group.ts';
import {
  Deployment,
  HostedControlPlane,
  PersistentVolumeClaim,
  Pod,
  Secret,
  StatefulSet,
} from '../../../constructs/api/resources.ts';
import { takeSteps } from '../../../reconciler/import/run.ts';
import { splitCertificates } from '../../../reconciler/pki/pem.ts';
import { valueOf } from '../../../reconciler/pki/secret.ts';
import { snapshotOf } from '../../support/etcd-database.ts';
import { BackedUpCluster } from '../../support/loop/backed-up-cluster.ts';
import { ClusterctlMove } from '../../support/loop/clusterctl-move.ts';
import type { Life } from '../../support/loop/life.ts';
import { type MemoryCluster, ourName } from '../../support/loop/memory-cluster.ts';
import { otherProvidersCluster } from '../../support/loop/other-provider.ts';
import { orderedCluster, settleBy, smallestSpec } from '../../support/loop/scenario.ts';
import { MemoryClient } from '../../support/memory-cluster/client.ts';
import { administrator } from '../../support/memory-cluster/users.ts';
import type { ObjectStoreServer } from '../../support/object-store-server.ts';
import { namespace } from '../../support/scope.ts';
import { testSession } from '../../support/test-session.ts';
import { isTrue, operate } from './operate.ts';
import type { Surroundings } from './surroundings.ts';

const user = { fieldManager: 'user' };
const minuteMs = 60_000;

/** What an operator, or `hcp`, does with one control plane from a request of a user to its end. */
export interface Loop {
  readonly name: string;
  /** A cluster before the request, in which no operator runs. */
  readonly begin: (surroundings: Surroundings, bucket: ObjectStoreServer) => Promise<MemoryCluster>;
  /**
   * Makes the request, and runs until nothing is left to do. @returns what reconciles have thrown meanwhile, and where the
   * control plane is then
   */
  readonly run: (cluster: MemoryCluster, life: Life, arrive?: Arrive) => Promise<Ended>;
  /** @throws unless the loop has led where it should */
  readonly check: (cluster: MemoryCluster) => void;
  /** Whether it writes so little that each write can have a run of its own. It needs no bucket. */
  readonly isShort?: boolean;
}

/** Called with the management cluster to which a control plane moves, before an operator runs there. */
type Arrive = (cluster: MemoryCluster) => Promise<unknown>;

interface Ended {
  readonly errors: readonly unknown[];
  /** Another cluster than before after a move. */
  readonly cluster: MemoryCluster;
}

function merged(one: object, other: object): object {
  const fields = new Set([...Object.keys(one), ...Object.keys(other)]);
  const [left, right] = [one as Record<string, unknown>, other as Record<string, unknown>];
  const isBoth = (field: string) => [left[field], right[field]].every((value) => value && typeof value === 'object');
  return Object.fromEntries(
    [...fields].map((field) => [
      field,
      isBoth(field) ? merged(left[field] as object, right[field] as object) : (right[field] ?? left[field]),
    ]),
  );
}

/** A control plane that is requested, where no operator has run yet. */
async function requested({ spec, prepare }: Surroundings, changes: object = {}): Promise<MemoryCluster> {
  const cluster = await orderedCluster(merged(merged(smallestSpec, changes), spec));
  await prepare(cluster);
  return cluster;
}

/** A control plane that runs. */
async function running(surroundings: Surroundings, changes: object = {}): Promise<MemoryCluster> {
  const cluster = await requested(surroundings, changes);
  await settleBy(cluster);
  return cluster;
}

/** A control plane with one backup in a bucket. */
async function backedUp({ spec, prepare }: Surroundings, bucket: ObjectStoreServer): Promise<MemoryCluster> {
  bucket.objects.clear();
  const unencrypted = { encryptionAtRest: { provider: 'None' } };
  const { etcd = {}, ...rest } = spec as { etcd?: object };
  const site = await BackedUpCluster.start(bucket, 'a1', 0, { ...unencrypted, ...rest });
  await site.cluster.change({ etcd });
  await prepare(site.cluster);
  await site.backUp(0);
  await site.operator.untilSettled();
  await site.operator.stop();
  return site.cluster;
}

async function operated(cluster: MemoryCluster, life: Life, holds: () => boolean, stepMs?: number): Promise<Ended> {
  return { cluster, errors: await operate(cluster, holds, { life, ...(stepMs === undefined ? {} : { stepMs }) }) };
}

function wants(what: string, isSo: boolean): void {
  if (!isSo) throw new Error(`not so in the end: ${what}`);
}

const isReady = (cluster: MemoryCluster) => wants('the control plane is Ready', isTrue(cluster));
const isGone = ({ objects }: MemoryCluster) => objects.get(HostedControlPlane, ourName.name) === undefined;

interface Status {
  readonly version?: string;
  readonly etcd?: { readonly restore?: { readonly step?: string } };
}
const statusOf = ({ hostedControlPlane }: MemoryCluster): Status =>
  (hostedControlPlane as { status?: Status }).status ?? {};
const trusted = ({ objects }: MemoryCluster, secret: string) =>
  splitCertificates(valueOf(objects.get<SecretObject & { spec?: never }>(Secret, secret), 'tls.crt') ?? '');
const argsOf = ({ objects }: MemoryCluster, name: string) => JSON.stringify(objects.get(Deployment, name) ?? {});
const countOf = ({ objects }: MemoryCluster, resource: typeof Pod) => objects.list(resource, {}).length;

async function sleepAndWake(cluster: MemoryCluster, life: Life): Promise<Ended> {
  await cluster.change({ hibernate: true });
  const asleep = await operated(cluster, life, () => countOf(cluster, Pod) === 0);
  await cluster.change({ hibernate: null });
  const awake = await operated(cluster, life, () => isTrue(cluster));
  return { cluster, errors: [...asleep.errors, ...awake.errors] };
}

async function moved(cluster: MemoryCluster, life: Life, arrive: Arrive = () => Promise.resolve()): Promise<Ended> {
  const annotations = (given: MemoryCluster) => given.hostedControlPlane.metadata.annotations ?? {};
  const labels = { [`${clusterctlLabel}/move`]: '' };
  await cluster.user.mergePatch(Secret, { namespace, name: 's3' }, { metadata: { labels } }, user);
  const ask = { metadata: { annotations: { [prepareMoveAnnotation]: 'now' } } };
  await cluster.user.mergePatch(HostedControlPlane, ourName, ask, user);
  const isPrepared = () =>
    cluster.conditions.some(({ type, reason }) => type === 'NoMovePending' && reason === 'PreparedForMove') &&
    annotations(cluster)[blockMoveAnnotation] === undefined;
  const before = await operated(cluster, life, isPrepared);
  const move = await ClusterctlMove.copy(cluster);
  await move.finish();
  move.to.etcd.clusterId = 'b2';
  await arrive(move.to);
  const after = await operated(move.to, life, () => isTrue(move.to));
  return { cluster: move.to, errors: [...before.errors, ...after.errors] };
}

async function imported(cluster: MemoryCluster, life: Life): Promise<Ended> {
  const pause = async () => {
    cluster.settle();
    await cluster.clock.advance(1000);
  };
  const client = new MemoryClient(cluster.management, administrator('importer'), {
    before: life.whileAlive,
    after: life.after,
  });
  const { session } = testSession({ client, namespace, pause, now: () => cluster.clock.now() });
  const errors: unknown[] = [];
  // A person types the command again until it has ended well.
  for (let isOver = false; !isOver;) {
    const failed = await takeSteps(session, { cluster: 'c1', snapshot: 'final.etcd', issuer: undefined }).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    isOver = failed === undefined;
    if (failed) errors.push(failed.error);
    if (errors.length > 200) throw new Error('the import never ends', { cause: failed?.error });
  }
  const ended = await operated(cluster, life, () => isTrue(cluster));
  return { cluster, errors: [...errors, ...ended.errors] };
}

async function deleted(cluster: MemoryCluster, life: Life): Promise<Ended> {
  await cluster.user.delete(HostedControlPlane, ourName);
  return operated(cluster, life, () => isGone(cluster));
}

/** Every loop of a control plane's life. */
export const loops: readonly Loop[] = [
  {
    name: 'a bring-up',
    begin: (surroundings) => requested(surroundings),
    run: (cluster, life) => operated(cluster, life, () => isTrue(cluster)),
    check: isReady,
  },
  {
    name: 'another argument of the API servers',
    begin: (surroundings) => running(surroundings),
    async run(cluster, life) {
      await cluster.change({ deployment: { apiServer: { args: { 'event-ttl': '2h' } } } });
      const isApplied = () => argsOf(cluster, 'c1-api-server').includes('--event-ttl=2h') && isTrue(cluster);
      return operated(cluster, life, isApplied);
    },
    check: isReady,
    isShort: true,
  },
  {
    name: 'an upgrade by a minor version',
    begin: (surroundings) => running(surroundings),
    async run(cluster, life) {
      await cluster.change({ version: 'v1.37.1' });
      const isDone = () =>
        statusOf(cluster).version === 'v1.37.1' &&
        JSON.stringify(cluster.objects.get(StatefulSet, 'c1-etcd')).includes('etcd:3.7.0-0') &&
        isTrue(cluster);
      return operated(cluster, life, isDone, minuteMs);
    },
    check: isReady,
  },
  {
    name: 'a hibernation',
    begin: (surroundings) => running(surroundings),
    run: sleepAndWake,
    check: isReady,
  },
  {
    name: 'a rotation of all CAs',
    begin: (surroundings) => running(surroundings),
    async run(cluster, life) {
      const secrets = ['c1-ca', 'c1-etcd', 'c1-proxy'];
      const before = secrets.flatMap((secret) => trusted(cluster, secret));
      const rotation = { clusterCA: 'please', etcdCA: 'please', proxyCA: 'please' };
      await cluster.change({ certificates: { rotation } });
      const isDone = () =>
        secrets.every((secret) => {
          const now = trusted(cluster, secret);
          return now.length === 1 && !before.includes(now[0] ?? '');
        }) && isTrue(cluster, 'CARotationReady');
      return operated(cluster, life, isDone, minuteMs);
    },
    check: isReady,
  },
  {
    name: 'a restore over a running control plane',
    begin: backedUp,
    async run(cluster, life) {
      await cluster.change({ etcd: { restore: { latest: true } } });
      return operated(cluster, life, () => statusOf(cluster).etcd?.restore?.step === 'Completed' && isTrue(cluster));
    },
    check: isReady,
  },
  { name: 'a move to another management cluster', begin: backedUp, run: moved, check: isReady },
  {
    name: 'an import from another provider',
    async begin({ spec, prepare }, bucket) {
      bucket.objects.clear();
      bucket.objects.set(`${namespace}/c1/final.etcd`, snapshotOf({ revisions: [2, 4711], etcdVersion: '3.6.0' }));
      const { etcd, ...rest } = spec as { etcd?: object };
      const cluster = await otherProvidersCluster(bucket, etcd);
      await cluster.change(rest);
      await prepare(cluster);
      return cluster;
    },
    run: imported,
    check: isReady,
  },
  {
    name: 'a deletion',
    begin: (surroundings) => running(surroundings),
    run: deleted,
    check: (cluster) => wants('no volume is left', countOf(cluster, PersistentVolumeClaim) === 0),
    isShort: true,
  },
  {
    name: 'a deletion that retains volumes',
    begin: (surroundings) => running(surroundings, { etcd: { volumeRetention: 'Retain' } }),
    run: deleted,
    check(cluster) {
      wants('the volume is left', countOf(cluster, PersistentVolumeClaim) === 1);
      const keys = ['c1-ca', 'c1-encryption', 'c1-etcd', 'c1-proxy', 'c1-sa'];
      wants(
        'the keys are left',
        keys.every((name) => cluster.objects.get(Secret, name)),
      );
    },
    isShort: true,
  },
];
