import { isDeepStrictEqual } from 'node:util';
import {
  Cluster,
  Deployment,
  HostedControlPlane,
  PersistentVolumeClaim,
  Pod,
  ResourceQuota,
  Secret,
  StatefulSet,
} from '../../../constructs/api/resources.ts';
import { type ComponentName, selectorLabels } from '../../../constructs/cluster/labels.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import { isControlledBy, type KubeObject } from '../../../reconciler/kube/object.ts';
import type { Random } from '../../simulation/random.ts';
import type { MemoryCluster } from '../loop/memory-cluster.ts';
import { findNodes, loseNode } from '../management-controllers.ts';
import type { StoredObject } from '../memory-objects.ts';
import { clusterObject, labelsOf, ownObject, whenCreatedAgain, type Mistake, type World } from './world.ts';

/** What a user does. */
export interface Act {
  /** Does it, as far as it can be done now. @returns what is wrong since then */
  readonly act: (world: World, cluster: MemoryCluster, random: Random) => Promise<Mistake | undefined | void>;
  /** How often it is chosen, compared with others. */
  readonly weight: number;
}

const user = { fieldManager: 'user' };

const oneOf = <T>(random: Random, values: readonly T[]): T => values[random.integer(0, values.length)]!;

const isGoing = (cluster: MemoryCluster) => ownObject(cluster)?.metadata.deletionTimestamp !== undefined;

const isLeft = ({ objects }: MemoryCluster, resource: typeof Pod, { metadata: { name, uid } }: KubeObject) =>
  objects.get<KubeObject>(resource, name)?.metadata.uid === uid;

/** Whether a mistake of a kind was made already and is not undone. */
const has = ({ mistakes }: World, kind: string, of?: MemoryCluster) =>
  mistakes.some((one) => one.kind === kind && one.of === of);

/** Changes the spec, unless the object is gone. */
async function change(cluster: MemoryCluster, spec: object): Promise<void> {
  if (ownObject(cluster)) await cluster.change(spec);
}

const scheduler = (value: string | null) => ({ deployment: { scheduler: { args: { v: value } } } });

/** Changes that every control plane accepts. */
const edits = (random: Random): readonly object[] => [
  scheduler(String(random.integer(1, 9))),
  { deployment: { apiServer: { args: { 'event-ttl': `${random.integer(2, 9)}h` } } } },
  { deployment: { controllerManager: { env: [{ name: 'GOGC', value: String(random.integer(50, 99)) }] } } },
  { etcd: { env: [{ name: 'GOGC', value: String(random.integer(50, 99)) }] } },
  { apiServer: { certSANs: [`host-${random.integer(0, 99)}.example.org`] } },
  { etcd: { volumeRetention: oneOf(random, ['Retain', 'Delete']) } },
];

interface RefusedEdit {
  readonly kind: string;
  readonly spec: object;
  readonly undone: object;
  readonly words: RegExp;
  readonly hiddenBy?: readonly string[];
}

/** Changes that can only fail, what takes them back, and how a condition says so. */
const refusedEdits: readonly RefusedEdit[] = [
  { kind: 'version', spec: { version: 'v1.39.0' }, undone: { version: 'v1.36.3' }, words: /spec\.version: / },
  { kind: 'members', spec: { etcd: { replicas: 2 } }, undone: { etcd: { replicas: 1 } }, words: /etcd\.replicas/ },
  {
    // The program that knows its flags is asked in a pod, when it can be asked.
    kind: 'flag',
    hiddenBy: ['quota', 'node'],
    spec: { deployment: { apiServer: { args: { nonsense: 'x' } } } },
    undone: { deployment: { apiServer: { args: { nonsense: null } } } },
    words: /nonsense/,
  },
  {
    kind: 'priority',
    hiddenBy: ['quota', 'node'],
    spec: { deployment: { defaults: { priorityClassName: 'typo' } } },
    undone: { deployment: { defaults: { priorityClassName: null } } },
    words: /no PriorityClass with name typo/,
  },
];

const networks = [
  { pods: { cidrBlocks: ['10.99.0.0/16'] } },
  { services: { cidrBlocks: ['10.112.0.0/12'] } },
  { serviceDomain: 'other.local' },
];

const components: readonly ComponentName[] = ['api-server', 'controller-manager', 'scheduler', 'etcd'];

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

const irreplaceable = ['ca', 'etcd', 'proxy', 'sa', 'encryption'];
const replaceable = ['kubeconfig', 'apiserver', 'etcd-server', 'scheduler'];

/** All acts, by their names in the message of a failure. */
export const acts: Readonly<Record<string, Act>> = {
  'edits the spec': {
    weight: 6,
    act: (_, cluster, random) => change(cluster, oneOf(random, edits(random))),
  },
  'writes what is refused': {
    weight: 3,
    async act(world, cluster, random) {
      if (!ownObject(cluster) || refusedEdits.some(({ kind }) => has(world, kind, cluster))) return undefined;
      const { kind, spec, undone, words, hiddenBy } = oneOf(random, refusedEdits);
      const isOver = whenCreatedAgain(cluster);
      await change(cluster, spec);
      return { kind, of: cluster, words, hiddenBy, isOver, undo: () => change(cluster, undone) };
    },
  },
  'edits the networks of the Cluster': {
    weight: 2,
    async act(world, cluster, random) {
      // Those of a new control plane are what it begins with.
      if (!ownObject(cluster) || !clusterObject(cluster) || has(world, 'networks', cluster)) return undefined;
      const { cluster: name, namespace } = cluster.place;
      const ask = (clusterNetwork: object | null) =>
        clusterObject(cluster)
          ? cluster.user.mergePatch(Cluster, { namespace, name }, { spec: { clusterNetwork } }, user)
          : Promise.resolve();
      const isOver = whenNetworksAreOthers(cluster);
      await ask(oneOf(random, networks));
      return {
        kind: 'networks',
        of: cluster,
        words: /ClusterNetworkChanged/,
        isOver,
        undo: async () => (isOver() ? undefined : ask(null)),
      };
    },
  },
  'sets a quota that is too small': {
    weight: 2,
    async act(_, cluster, random) {
      const { namespace } = cluster.place;
      const name = { namespace, name: 'too-small' };
      const pods = cluster.objects.list(Pod, labelsOf(cluster)).length;
      if (!ownObject(cluster) || pods === 0 || cluster.objects.get(ResourceQuota, name.name)) return undefined;
      const hard = oneOf(random, [{ pods: '0' }, { 'limits.cpu': '1m' }]);
      const { apiVersion, kind } = ResourceQuota;
      await cluster.user.create({ apiVersion, kind, metadata: name, spec: { hard } }, user);
      await change(cluster, scheduler(String(random.integer(10, 99))));
      return {
        kind: 'quota',
        of: cluster,
        words: /(exceeded|failed) quota: too-small/,
        // Nothing needs a pod before the spec is accepted and an API server runs, and of two refusals the API server says one.
        hiddenBy: ['version', 'members', 'flag', 'priority', 'node'],
        hidesIn: namespace,
        // One that is created again may adopt pods that run, and need no other.
        isOver: whenCreatedAgain(cluster),
        undo: () => cluster.user.delete(ResourceQuota, name),
      };
    },
  },
  'loses a node': {
    weight: 2,
    async act(world, cluster, random) {
      if (!ownObject(cluster) || isGoing(cluster) || has(world, 'node', cluster)) return undefined;
      const lost = random.happens(0.3) ? components : [oneOf(random, components)];
      const pods = lost.flatMap((component) =>
        cluster.objects.list<StoredObject>(Pod, selectorLabels(cluster.place.cluster, component)),
      );
      if (pods.length === 0) return undefined;
      const isCreatedAgain = whenCreatedAgain(cluster);
      for (const pod of pods) loseNode(cluster.objects, pod);
      cluster.settle();
      return {
        kind: 'node',
        of: cluster,
        words: /node node-1/,
        // Of controllers nothing is said while the only API server is refused.
        hiddenBy: ['quota', 'priority'],
        isOver: () => isCreatedAgain() && !pods.some((pod) => isLeft(cluster, Pod, pod)),
        async undo() {
          findNodes(cluster.objects);
          cluster.settle();
        },
      };
    },
  },
  'sets the clock of the operator': {
    weight: 2,
    async act(world, _cluster, random) {
      if (has(world, 'clock')) return undefined;
      const byMs = oneOf(random, [365 * dayMs, -365 * dayMs, 60 * minuteMs, -60 * minuteMs]);
      world.first.clock.setTime(byMs);
      return {
        kind: 'clock',
        of: undefined,
        words: /ClocksAgree False ClockWrong/,
        undo: async () => world.first.clock.setTime(-byMs),
      };
    },
  },
  'deletes Secrets': {
    weight: 3,
    async act(_, cluster, random) {
      const { namespace, cluster: name } = cluster.place;
      // With the control plane deleted before, which has retained them, a person ends the data.
      const own = ownObject(cluster)?.metadata.uid;
      const isOwned = (suffix: string) => {
        const secret = cluster.objects.get<KubeObject>(Secret, `${name}-${suffix}`);
        return secret !== undefined && isControlledBy(secret, own);
      };
      for (const suffix of [...irreplaceable.filter(isOwned), ...replaceable])
        if (random.happens(0.3)) await cluster.user.delete(Secret, { namespace, name: `${name}-${suffix}` });
    },
  },
  'deletes a volume claim': {
    weight: 2,
    async act(world, cluster) {
      const { namespace, cluster: name } = cluster.place;
      const claim = cluster.objects.get(PersistentVolumeClaim, `etcd-data-${name}-etcd-0`);
      // With its user deleted before, a person ends the data.
      if (
        !claim ||
        !staysInUse(cluster, `${name}-etcd-0`) ||
        isGoing(cluster) ||
        !ownObject(cluster) ||
        claim.metadata.deletionTimestamp
      )
        return undefined;
      const isCreatedAgain = whenCreatedAgain(cluster);
      world.ledger.release(claim);
      await cluster.user.delete(PersistentVolumeClaim, { namespace, name: claim.metadata.name });
      return {
        kind: 'claim',
        of: cluster,
        words: new RegExp(`${claim.metadata.name} was deleted`),
        isOver: () => isCreatedAgain() && !isLeft(cluster, PersistentVolumeClaim, claim),
        async undo() {
          saveClaim(world, cluster, claim);
        },
      };
    },
  },
  'deletes what runs': {
    weight: 2,
    async act(world, cluster, random) {
      const { namespace, cluster: name } = cluster.place;
      // With the claim deleted before, a person ends the data.
      const hasClaim = !has(world, 'claim', cluster);
      const all = [
        [Deployment, 'api-server'],
        [Deployment, 'scheduler'],
        [Pod, 'api-server-0'],
        ...(hasClaim
          ? ([
              [StatefulSet, 'etcd'],
              [Pod, 'etcd-0'],
            ] as const)
          : []),
      ] as const;
      const [resource, suffix] = oneOf(random, all);
      const propagationPolicy = oneOf(random, policies);
      await cluster.user.delete(resource, { namespace, name: `${name}-${suffix}` }, { propagationPolicy });
    },
  },
  'deletes the control plane': {
    weight: 3,
    async act(_, cluster, random) {
      const { namespace, cluster: name } = cluster.place;
      if (!ownObject(cluster)) return;
      if (!isGoing(cluster)) await change(cluster, { etcd: { volumeRetention: oneOf(random, ['Retain', 'Delete']) } });
      const propagationPolicy = oneOf(random, policies);
      const isWhole = random.happens(0.3);
      if (isWhole) await cluster.user.delete(Cluster, { namespace, name }, { propagationPolicy });
      else await cluster.user.delete(HostedControlPlane, cluster.name, { propagationPolicy });
    },
  },
  'creates the control plane again': {
    weight: 1,
    act: (world, cluster) => createAgain(world, cluster),
  },
};

/**
 * Asks whether a Cluster was created again, without the networks that a user has asked for, or a control plane whose first ones these
 * are: one without the service account keys of the control plane before.
 */
function whenNetworksAreOthers(cluster: MemoryCluster): () => boolean {
  const isCreatedAgain = whenCreatedAgain(cluster);
  const uid = clusterObject(cluster)?.metadata.uid;
  const name = namesOf(cluster.place.cluster).secrets.serviceAccount;
  const keys = () => cluster.objects.get<StoredObject>(Secret, name)?.data;
  const before = keys();
  return () => clusterObject(cluster)?.metadata.uid !== uid || (isCreatedAgain() && !isDeepStrictEqual(keys(), before));
}

const policies = ['Background', 'Foreground', 'Orphan'] as const;

/** Applies the manifests again of what is gone. */
export async function createAgain(world: World, cluster: MemoryCluster): Promise<void> {
  const owner = clusterObject(cluster);
  const own = ownObject(cluster);
  if ((owner && own) || [owner, own].some((object) => object?.metadata.deletionTimestamp)) return;
  if (owner) await cluster.orderControlPlane(owner, world.spec);
  else if (!own) await cluster.order(world.spec);
  else await cluster.orderClusterOf(own);
}

/** Whether nobody has deleted the pod, nor its StatefulSet. */
function staysInUse({ objects, place }: MemoryCluster, name: string): boolean {
  return [objects.get(Pod, name), objects.get(StatefulSet, namesOf(place.cluster).etcd)].every(
    (object) => object !== undefined && object.metadata.deletionTimestamp === undefined,
  );
}

/** Takes a deletion of a claim back in etcd of the management cluster, as tools for this accident do. */
function saveClaim(world: World, cluster: MemoryCluster, { metadata: { name, uid } }: KubeObject): void {
  const claim = cluster.objects.get<KubeObject>(PersistentVolumeClaim, name);
  if (!claim || claim.metadata.uid !== uid) return;
  const {
    deletionTimestamp: _,
    deletionGracePeriodSeconds: __,
    ...metadata
  } = claim.metadata as KubeObject['metadata'] & {
    deletionGracePeriodSeconds?: number;
  };
  world.ledger.keep(claim);
  cluster.management.store.put({ ...claim, metadata });
}
