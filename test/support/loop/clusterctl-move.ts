import { blockMoveAnnotation, clusterctlLabel } from '../../../constructs/api/group.ts';
import { Cluster, ConfigMap, HostedControlPlane, Secret } from '../../../constructs/api/resources.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { ManualClock } from '../manual-clock.ts';
import { runControllers } from '../memory-cluster/controllers/controllers.ts';
import { clusterName, namespace } from '../scope.ts';
import { MemoryCluster, ourName } from './memory-cluster.ts';

const clusterctl = { fieldManager: 'clusterctl' };

/** Purposes of Secrets without owner that belong to a Cluster by their names. */
const purposes = ['kubeconfig', 'ca', 'etcd', 'sa', 'proxy', 'apiserver-etcd-client'];

/** Whether `clusterctl move` takes the object along: it follows owners to the Cluster, or knows the label or the name. */
export function isMoved(
  { metadata: { name, ownerReferences = [], labels = {} } }: KubeObject,
  all: readonly KubeObject[],
): boolean {
  if (labels[`${clusterctlLabel}/move`] !== undefined) return true;
  if (ownerReferences.length === 0) return purposes.some((purpose) => name === `${clusterName}-${purpose}`);
  return ownerReferences.some(({ uid, kind }) => {
    if (kind === 'Cluster') return true;
    const owner = all.find(({ metadata }) => metadata.uid === uid);
    // Only of kinds that a move discovers.
    return owner !== undefined && owner.kind === HostedControlPlane.kind && isMoved(owner, all);
  });
}

/** One run of `clusterctl move`, as Cluster API 1.14 does it, in its steps. */
export class ClusterctlMove {
  readonly from: MemoryCluster;
  readonly to: MemoryCluster;

  private constructor(from: MemoryCluster, to: MemoryCluster) {
    this.from = from;
    this.to = to;
  }

  /**
   * Pauses the Cluster, and creates its objects in another management cluster, where it is paused too.
   * @throws while an object blocks the move, and leaves the Cluster paused
   */
  static async copy(from: MemoryCluster): Promise<ClusterctlMove> {
    await setPaused(from, true);
    if (from.hostedControlPlane.metadata.annotations?.[blockMoveAnnotation] !== undefined)
      throw new Error('the HostedControlPlane blocks the move');
    const to = new MemoryCluster(new ManualClock(from.clock.now()));
    // No object has the same uid there: those of one management cluster count up from a thousand more than those of the one before.
    const first = Math.ceil(Number(from.hostedControlPlane.metadata.uid?.slice(-12)) / 1_000) * 1_000;
    for (let count = 0; count < first; count++) to.management.store.nextUid();
    await to.install();
    const uids = new Map<string, string>();
    for (const object of movedObjects(from)) {
      const created = await to.user.create(withoutIdentity(object, uids), clusterctl);
      uids.set(object.metadata.uid ?? '', created.metadata.uid ?? '');
    }
    return new ClusterctlMove(from, to);
  }

  /** Deletes the objects where they were, and resumes the Cluster where it is. */
  async finish(): Promise<void> {
    const metadata = { finalizers: null, annotations: { 'clusterctl.cluster.x-k8s.io/delete-for-move': '' } };
    for (const object of movedObjects(this.from).toReversed()) {
      const { apiVersion, kind } = object;
      const resource = [Cluster, HostedControlPlane, Secret, ConfigMap].find((one) => one.kind === kind);
      if (!resource) throw new Error(`no move of ${apiVersion} ${kind}`);
      const place = { namespace, name: object.metadata.name };
      await this.from.user.mergePatch(resource, place, { metadata }, clusterctl);
      await this.from.user.delete(resource, place);
    }
    runControllers(this.from.management);
    await setPaused(this.to, false);
  }
}

/** Owners first. */
function movedObjects({ objects }: MemoryCluster): KubeObject[] {
  const all = objects.objects;
  const owned = [ConfigMap, Secret].flatMap((resource) => objects.list<KubeObject>(resource, {}));
  return [
    ...objects.list<KubeObject>(Cluster, {}),
    ...objects.list<KubeObject>(HostedControlPlane, {}),
    ...owned.filter((object) => isMoved(object, all)),
  ];
}

function withoutIdentity({ metadata, ...object }: KubeObject, uids: ReadonlyMap<string, string>): KubeObject {
  const { name, labels, annotations, ownerReferences } = metadata;
  const owners = ownerReferences?.map((owner) => ({ ...owner, uid: uids.get(owner.uid) ?? owner.uid }));
  const { status: _, ...rest } = object as { status?: object };
  return {
    ...(rest as Omit<KubeObject, 'metadata'>),
    metadata: {
      name,
      namespace,
      ...(labels ? { labels } : {}),
      ...(annotations ? { annotations } : {}),
      ...(owners ? { ownerReferences: owners } : {}),
    },
  };
}

/** Pauses a Cluster or resumes it, as `clusterctl move` and users do. */
export async function setPaused({ user }: MemoryCluster, paused: boolean): Promise<void> {
  await user.mergePatch(Cluster, { ...ourName, name: clusterName }, { spec: { paused } }, clusterctl);
}
