import { unlessAborted } from '../kube/deadline.ts';
import { messageOf } from '../kube/error-message.ts';
import { type HttpAccess, readClusterVersion, readReachedPeers } from './http-api.ts';
import { type KeyVersion, listKeys } from './key-changes.ts';
import { countKeysByResource, type KeyCounts } from './key-counts.ts';
import type { MemberAlarm, Registration } from './members.ts';
import { inSpan } from '../kube/span.ts';
import { type DatabaseSource, type MemberPlace, readSnapshot } from './snapshot.ts';
import {
  type CallOptions,
  type EtcdCredentials,
  grpcMessage,
  type KeysHash,
  type MemberEndpoint,
  type ReportedStatus,
  statusIn,
  TrustingEtcd3,
} from './etcd3-client.ts';

/** For calls that need no more than a message or a round of consensus. */
const deadlineMs = 5_000;

/** Rewriting 8 GiB takes minutes on a slow disk. */
const defragmentDeadlineMs = 10 * 60_000;

/** To count keys, etcd goes through its index of all keys: a second for some millions. */
const countDeadlineMs = 30_000;

/** For the keys of all resources, each of which takes two requests. */
const countingMs = 5 * 60_000;

/**
 * A client of one etcd member. A client for several members would send status, defragmentation and alarms to any of
 * them. Each call is made once, has a deadline, and fails with an error that names the member. Close the client after
 * use.
 */
export class MemberClient {
  /** Its snapshot, which another thread can read as well. */
  readonly source: DatabaseSource;
  readonly #place: MemberPlace;
  readonly #etcd: TrustingEtcd3;

  constructor(endpoint: MemberEndpoint, credentials: EtcdCredentials) {
    this.#place = { endpoint, credentials };
    this.source = this.#place;
    this.#etcd = new TrustingEtcd3(endpoint, credentials);
  }

  close(): void {
    this.#etcd.close();
  }

  /** The member's status and the alarms it knows. Unlike a request for alarms, this writes nothing. */
  async status(): Promise<ReportedStatus> {
    return statusIn(await this.#call('status', ({ maintenance }, options) => maintenance.status(options)));
  }

  /**
   * The cluster version, as which all members behave, such as `3.6.0`. It follows the last member that was upgraded.
   */
  clusterVersion(): Promise<string> {
    return readClusterVersion(this.#http);
  }

  /** IDs of the members that this one reaches; undefined if it does not say. */
  reachedPeers(): Promise<ReadonlySet<string> | undefined> {
    return readReachedPeers(this.#http);
  }

  /** A hash of all data up to this revision. */
  hash(revision: number): Promise<KeysHash> {
    return this.#call('hash', (etcd, options) => etcd.hashKeys(revision, options));
  }

  get #http(): HttpAccess {
    return { member: this.#place.endpoint, credentials: this.#place.credentials, deadlineMs };
  }

  /** Reads from the member's own database. It fails during a defragmentation, when status still answers. */
  async read(): Promise<void> {
    await this.#call('read', ({ kv }, options) =>
      kv.range({ key: anyKey, serializable: true, keys_only: true }, options),
    );
  }

  /** The members as a quorum knows them, or with `own` as this member does. */
  async members(view: 'quorum' | 'own'): Promise<readonly Registration[]> {
    const { members } = await this.#call('member list', ({ cluster }, options) =>
      // Without an argument etcd3 fails to encode the request.
      cluster.memberList({ linearizable: view === 'quorum' }, options),
    );
    return members.map(({ ID, name, isLearner, peerURLs }) => ({ id: ID, name, isLearner, peerUrls: peerURLs }));
  }

  /** Adds a member without a vote. etcd accepts it only while all voters are connected. Returns its ID. */
  async addLearner(peerUrl: string): Promise<string> {
    const { member } = await this.#call('member add', ({ cluster }, options) =>
      cluster.memberAdd({ peerURLs: [peerUrl], isLearner: true }, options),
    );
    return member.ID;
  }

  /** Promotes a learner to voter. etcd refuses until the learner has nearly all data. */
  async promote(id: string): Promise<void> {
    await this.#call('member promote', ({ cluster }, options) => cluster.memberPromote({ ID: id }, options));
  }

  async remove(id: string): Promise<void> {
    await this.#call('member remove', ({ cluster }, options) => cluster.memberRemove({ ID: id }, options));
  }

  /** Moves leadership to another member. Only the leader can do it. */
  async moveLeader(targetId: string): Promise<void> {
    await this.#call('move leader', ({ maintenance }, options) =>
      maintenance.moveLeader({ targetID: targetId }, options),
    );
  }

  /** Removes all versions of keys before `revision`, and resolves when their space can be reused. */
  async compact(revision: number): Promise<void> {
    await this.#call('compact', ({ kv }, options) =>
      kv.compact({ revision: String(revision), physical: true }, options),
    );
  }

  /** Whether versions before `revision` have been removed. */
  async isCompacted(revision: number): Promise<boolean> {
    if (revision <= 1) return true;
    try {
      await this.#call('read', ({ kv }, options) =>
        kv.range({ key: anyKey, revision: String(revision - 1), serializable: true }, options),
      );
      return false;
    } catch (error) {
      if (messageOf(error).includes('required revision has been compacted')) return true;
      throw error;
    }
  }

  /** Returns free space of the database to the file system. The member serves no requests meanwhile. */
  async defragment(): Promise<void> {
    // A client resets its connections when one of its calls fails, which would also end this call.
    const etcd = new TrustingEtcd3(this.#place.endpoint, this.#place.credentials);
    try {
      await this.#call('defragment', ({ maintenance }, options) => maintenance.defragment(options), {
        etcd,
        limitMs: defragmentDeadlineMs,
      });
    } finally {
      etcd.close();
    }
  }

  /** The member's whole database at this moment; see {@link readSnapshot}. */
  async *snapshot(signal?: AbortSignal): AsyncGenerator<Buffer> {
    for await (const { blob } of readSnapshot(this.#place, signal)) yield blob;
  }

  /**
   * Makes the member recount the free space in its database. It counts at each commit, and counts what one commit frees
   * at the third following commit at the latest. A member that gets no writes commits nothing, and keeps reporting the
   * old free space. Starting to read a snapshot is the only call that commits without a change of data.
   */
  async recount(): Promise<void> {
    for (let commits = 0; commits < 3; commits++) {
      for await (const _ of this.snapshot(AbortSignal.timeout(deadlineMs))) break;
    }
  }

  /**
   * Number of keys of the member at a revision, in total and by resource. The revision must not be compacted yet. It takes five
   * minutes at most.
   */
  keyCounts(revision: number, signal?: AbortSignal): Promise<KeyCounts> {
    const limit = AbortSignal.timeout(countingMs);
    const ended = AbortSignal.any(signal ? [signal, limit] : [limit]);
    const count = countKeysByResource(async ({ start, end, what }) => {
      const wanted = what === 'count' ? { count_only: true } : { keys_only: true, limit: 1 };
      const { count: counted, kvs } = await this.#call(
        'count keys',
        ({ kv }, options) =>
          kv.range({ key: start, range_end: end, revision: String(revision), serializable: true, ...wanted }, options),
        { limitMs: countDeadlineMs },
      );
      return { count: Number(counted), firstKey: kvs[0]?.key };
    }, ended);
    return unlessAborted(ended, count).catch((error: unknown) => {
      if (!limit.aborted || signal?.aborted) throw error;
      throw new Error(
        `etcd member ${this.#place.endpoint.name} has not counted its keys in ${countingMs / 60_000} minutes`,
      );
    });
  }

  /** All keys at a revision, a page at a time. The revision must not be compacted meanwhile. */
  async *keys(revision: number): AsyncGenerator<readonly KeyVersion[]> {
    const etcd = new TrustingEtcd3(this.#place.endpoint, this.#place.credentials, longestPage);
    try {
      yield* listKeys(({ start, end, limit }) => {
        const range = {
          key: start,
          range_end: end,
          revision: String(revision),
          limit,
          keys_only: true,
          serializable: true,
        };
        const limits = { etcd, limitMs: countDeadlineMs };
        return this.#call('list keys', ({ kv }, options) => kv.range(range, options), limits);
      });
    } finally {
      etcd.close();
    }
  }

  /** ID of the etcd cluster in hexadecimal digits, as etcdctl prints it. */
  async clusterId(): Promise<string> {
    const { header } = await this.#call('status', ({ maintenance }, options) => maintenance.status(options));
    return BigInt(header.cluster_id).toString(16);
  }

  async disarm({ alarm, memberId }: MemberAlarm): Promise<void> {
    await this.#call('alarm disarm', ({ maintenance }, options) =>
      maintenance.alarm({ action: 'Deactivate', alarm, memberID: memberId }, options),
    );
  }

  async #call<T>(
    what: string,
    call: (etcd: TrustingEtcd3, options: CallOptions) => Promise<T>,
    { etcd = this.#etcd, limitMs = deadlineMs } = {},
  ): Promise<T> {
    try {
      const attributes = { 'etcd.member': this.#place.endpoint.name };
      return await inSpan(`etcd ${what}`, attributes, () => call(etcd, { deadline: Date.now() + limitMs }));
    } catch (cause) {
      throw new Error(`${what} at etcd member ${this.#place.endpoint.name} failed: ${grpcMessage(cause)}`, { cause });
    }
  }
}

/**
 * Whether etcd refuses a membership change only for now: a member is not connected, a learner is behind, or the ID of a
 * new member, which etcd derives from its address and the second, is that of a member that was just removed.
 */
export function isRefusedForNow(error: unknown): boolean {
  const message = messageOf(error);
  const addsAgain = message.includes('member add') && message.includes('member not found');
  return addsAgain || refusals.some((words) => message.includes(words));
}

const refusals = [
  'unhealthy cluster',
  'in sync with leader',
  'too many learner',
  'leader changed',
  're-configuration failed',
] as const;

/** A page of keys is longer than other answers. */
const longestPage = 4 << 20;

/** A key that never exists, to check whether the database answers. */
const anyKey = Buffer.from([0]);
