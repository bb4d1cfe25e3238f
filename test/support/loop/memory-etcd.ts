import { PersistentVolumeClaim, Pod, type Resource } from '../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import { etcdVolumeClaim } from '../../../constructs/cluster/names.ts';
import { writtenStarts } from '../../../reconciler/etcd/etcd-facts.ts';
import { etcdPeerUrl } from '../../../reconciler/etcd/member-objects.ts';
import type { MemberStatus, Registration } from '../../../reconciler/etcd/members.ts';
import { markOf } from '../../../reconciler/etcd/volume-mark.ts';
import type { EtcdAccess, OpenEtcd } from '../../../reconciler/etcd/access.ts';
import { isAway, startsNever } from '../management-controllers.ts';
import { LoneMember } from '../etcd-member.ts';
import type { LoopMemberClient } from '../../../reconciler/etcd/observe-members.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { completedRequests, restoredAnnotations } from '../../../reconciler/backup/restore/observe-restore.ts';
import type { Reader } from '../../../reconciler/clusters/management/view.ts';

/**
 * An etcd cluster whose members are those with a volume. They answer while their pods run, and all are healthy. A member
 * starts on an empty volume only as a founder of a new cluster, by its configuration file; a restore fills volumes too.
 */
export class MemoryEtcd {
  /** In hexadecimal digits. */
  clusterId = '1267';
  /** Whether its database is as large as may be, and compacted, so that only users can free space. */
  isFull = false;
  /** Whether more members have lost their data than may, so that the others have no leader and confirm nothing. */
  hasNoQuorum = false;
  /** One if nothing was ever written. */
  revision = 900;
  /** Ordinals of members that reach no other one, and are reached by all. */
  deaf: readonly number[] = [];
  #leader = 0;
  /** Uids of the volume claims that hold data. */
  readonly #written: Set<string>;

  constructor(written: Iterable<string> = []) {
    this.#written = new Set(written);
  }

  copy(): MemoryEtcd {
    const copy = new MemoryEtcd(this.#written);
    copy.clusterId = this.clusterId;
    copy.isFull = this.isFull;
    copy.revision = this.revision;
    copy.hasNoQuorum = this.hasNoQuorum;
    copy.deaf = this.deaf;
    return copy;
  }

  /** Members from which backups are taken: each answers as if it were the only one. */
  readonly openMembers: OpenEtcd = (cluster) => ({
    clients: (name) => new LoneMember({ name, peerUrl: etcdPeerUrl(cluster, ordinalIn(name)) }, this.clusterId),
    close: () => {},
  });

  /** @param whileAlive called before every request */
  open(whileAlive: (action: string) => Promise<void>): OpenEtcd<LoopMemberClient> {
    return (cluster, management): EtcdAccess<LoopMemberClient> => ({
      clients: (name) => {
        const running = ordinalsOf(Pod, cluster.name, management);
        const ordinal = ordinalIn(name);
        if (!running.includes(ordinal) || !this.#starts(cluster.name, ordinal, management)) return undefined;
        return this.#member({ cluster, ordinal, running, reader: management, whileAlive });
      },
      close: () => {},
    });
  }

  #starts(cluster: string, ordinal: number, management: Reader): boolean {
    const claim = management.get(PersistentVolumeClaim, etcdVolumeClaim(cluster, ordinal));
    const { uid = '' } = claim?.metadata ?? {};
    const isNew = writtenStarts(cluster, management)[ordinal]?.state === 'new';
    if (isNew || (claim && isRestored(claim))) this.#written.add(uid);
    return this.#written.has(uid);
  }

  #member({ cluster, ordinal, running, reader: management, whileAlive }: MemberOptions): LoopMemberClient {
    const idOf = (one: number) => memberId(cluster.name, one, management);
    const members = ordinalsOf(PersistentVolumeClaim, cluster.name, management).map((one): Registration => ({
      id: idOf(one),
      name: `${cluster.name}-etcd-${one}`,
      isLearner: false,
      peerUrls: [etcdPeerUrl(cluster, one)],
    }));
    const leader = running.includes(this.#leader) ? this.#leader : (running[0] ?? 0);
    const pod = management.get(Pod, `${cluster.name}-etcd-${ordinal}`);
    const answering = async <T>(answer: T): Promise<T> => {
      if (pod && isAway(pod)) throw new Error('14 UNAVAILABLE: no connection established');
      await whileAlive('ask etcd');
      return answer;
    };
    const never = async (): Promise<never> => {
      throw new Error('members of etcd in memory neither come nor go, and nothing frees their space');
    };
    const byQuorum = async <T>(answer: T): Promise<T> => {
      if (this.hasNoQuorum) throw new Error('etcdserver: no leader');
      return answering(answer);
    };
    const leaderId = this.hasNoQuorum ? '0' : idOf(leader);
    return {
      status: () =>
        answering({
          status: {
            ...statusOf(idOf(ordinal), leaderId, this.clusterId),
            revision: this.revision,
            ...(this.isFull ? fullSizes : {}),
          },
          alarms: this.isFull ? [{ memberId: idOf(ordinal), alarm: 'Nospace' }] : [],
        }),
      read: () => byQuorum(undefined),
      members: () => byQuorum(members),
      clusterVersion: () => answering('3.6.0'),
      reachedPeers: () => answering(new Set(members.flatMap(({ id }) => (this.deaf.includes(ordinal) ? [] : [id])))),
      moveLeader: async (targetId) => {
        await whileAlive('ask etcd');
        this.#leader = members.findIndex(({ id }) => id === targetId);
      },
      hash: never,
      recount: never,
      isCompacted: () => answering(this.isFull),
      addLearner: never,
      promote: never,
      remove: never,
      compact: never,
      defragment: never,
      disarm: never,
    };
  }
}

/** More than any quota. */
const fullSizes = { dbSizeBytes: 1024 ** 4, dbSizeInUseBytes: 1024 ** 4 };

interface MemberOptions {
  readonly cluster: { readonly name: string; readonly namespace: string };
  readonly ordinal: number;
  readonly running: readonly number[];
  readonly reader: Reader;
  readonly whileAlive: (action: string) => Promise<void>;
}

/** A restored member has the ID that its claim names; the others count from one. */
function memberId(cluster: string, ordinal: number, management: Reader): string {
  const claim = management.get(PersistentVolumeClaim, etcdVolumeClaim(cluster, ordinal));
  const { memberId: marked, isReserved = false } = claim ? markOf(claim) : {};
  return marked !== undefined && !isReserved ? marked : String(ordinal + 1);
}

function isRestored(claim: KubeObject): boolean {
  return Object.values(restoredAnnotations).some((name) => completedRequests(claim, name).length > 0);
}

function ordinalsOf(resource: Resource, cluster: string, management: Reader): number[] {
  return (
    management
      .list(resource, selectorLabels(cluster, 'etcd'))
      // A claim that is being deleted holds its data until its pod has ended.
      .filter((object) => resource !== Pod || !(object.metadata.deletionTimestamp || startsNever(object)))
      .map(({ metadata }) => ordinalIn(metadata.name))
      .sort((one, other) => one - other)
  );
}

function ordinalIn(name: string): number {
  return Number(name.slice(name.lastIndexOf('-') + 1));
}

function statusOf(id: string, leaderId: string, clusterId: string): Omit<MemberStatus, 'revision'> {
  return {
    memberId: id,
    clusterId: BigInt(`0x${clusterId}`).toString(),
    version: '3.6.16',
    leaderId,
    raftTerm: 2,
    raftIndex: 1_000,
    raftAppliedIndex: 1_000,
    dbSizeBytes: 1024 ** 2,
    dbSizeInUseBytes: 1024 ** 2,
    errors: [],
  };
}
