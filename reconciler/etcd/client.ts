import type { Etcd3, IOptions } from 'etcd3';
import { z } from 'zod';
import { messageOf } from '../kube/error-message.ts';
import type { EtcdCredentials, MemberEndpoint } from './member-endpoint.ts';
import { type HttpAccess, readClusterVersion } from './http-api.ts';
import { countKeysByResource, type KeyCounts } from './key-counts.ts';
import type { MemberAlarm, MemberStatus, Registration } from './members.ts';
import { grpcMessage } from './grpc-message.ts';
import { readSnapshot } from './snapshot.ts';
import { type KeysHash, TrustingEtcd3 } from './trusting-client.ts';

type CallOptions = NonNullable<Parameters<Etcd3['maintenance']['status']>[0]>;

/** For everything that needs no more than a message or a round of consensus. */
const deadlineMs = 5_000;

/** Writing 8 GiB anew takes minutes on a slow disk. */
const defragmentDeadlineMs = 10 * 60_000;

/** To count, etcd goes through its index of all keys: a second for some millions. */
const countDeadlineMs = 30_000;

/**
 * One member of etcd. With a client for several, etcd3 sends status, defragmentation and alarms to any of them. All
 * calls are made once, have a deadline, and fail with an error that names the member. Close it when done.
 */
export class MemberClient {
  readonly #endpoint: MemberEndpoint;
  readonly #credentials: EtcdCredentials;
  readonly #etcd: TrustingEtcd3;

  constructor(endpoint: MemberEndpoint, credentials: EtcdCredentials) {
    this.#endpoint = endpoint;
    this.#credentials = credentials;
    this.#etcd = this.#connect();
  }

  close(): void {
    this.#etcd.close();
  }

  /** What the member says of itself, and the alarms it knows: unlike asking for alarms, this writes nothing. */
  async status(): Promise<{ readonly status: MemberStatus; readonly alarms: readonly MemberAlarm[] }> {
    const answer = await this.#call('status', ({ maintenance }, options) => maintenance.status(options));
    const { header, leader, dbSize, dbSizeInUse, errors, ...rest } = Status.parse(answer);
    const status: MemberStatus = {
      ...rest,
      memberId: header.member_id,
      clusterId: header.cluster_id,
      leaderId: leader === '0' ? undefined : leader,
      revision: header.revision,
      dbSizeBytes: dbSize,
      dbSizeInUseBytes: dbSizeInUse,
      errors,
    };
    return { status, alarms: errors.flatMap(alarmsIn) };
  }

  /** The version that all members behave as, such as `3.6.0`; it follows the last of them that was upgraded. */
  clusterVersion(): Promise<string> {
    return readClusterVersion(this.#http);
  }

  /** A hash of all that it has up to this revision. */
  hash(revision: number): Promise<KeysHash> {
    return this.#call('hash', (etcd, options) => etcd.hashKeys(revision, options));
  }

  get #http(): HttpAccess {
    return { member: this.#endpoint, credentials: this.#credentials, deadlineMs };
  }

  /** Reads from the member's own database; fails while it is being defragmented, when status still answers. */
  async read(): Promise<void> {
    await this.#call('read', ({ kv }, options) =>
      kv.range({ key: anyKey, serializable: true, keys_only: true }, options),
    );
  }

  /** The members as a quorum knows them, or with `own` as this one does. */
  async members(view: 'quorum' | 'own'): Promise<readonly Registration[]> {
    const { members } = await this.#call('member list', ({ cluster }, options) =>
      // Without an argument etcd3 fails to encode the request.
      cluster.memberList({ linearizable: view === 'quorum' }, options),
    );
    return members.map(({ ID, name, isLearner, peerURLs }) => ({ id: ID, name, isLearner, peerUrls: peerURLs }));
  }

  /** Lets a member join that has no vote yet; etcd takes it only while all voters are connected. Returns its id. */
  async addLearner(peerUrl: string): Promise<string> {
    const { member } = await this.#call('member add', ({ cluster }, options) =>
      cluster.memberAdd({ peerURLs: [peerUrl], isLearner: true }, options),
    );
    return member.ID;
  }

  /** Gives a learner its vote; etcd refuses until the learner has nearly all data. */
  async promote(id: string): Promise<void> {
    await this.#call('member promote', ({ cluster }, options) => cluster.memberPromote({ ID: id }, options));
  }

  async remove(id: string): Promise<void> {
    await this.#call('member remove', ({ cluster }, options) => cluster.memberRemove({ ID: id }, options));
  }

  /** Hands leadership to another member; only the leader can. */
  async moveLeader(targetId: string): Promise<void> {
    await this.#call('move leader', ({ maintenance }, options) =>
      maintenance.moveLeader({ targetID: targetId }, options),
    );
  }

  /** Forgets all versions of keys before `revision`, and resolves when their space can be reused. */
  async compact(revision: number): Promise<void> {
    await this.#call('compact', ({ kv }, options) =>
      kv.compact({ revision: String(revision), physical: true }, options),
    );
  }

  /** Whether versions before `revision` are forgotten already. */
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

  /** Gives free space of the database back; the member serves nobody meanwhile. */
  async defragment(): Promise<void> {
    // A client resets its connections when one of its calls fails, which would end this call, too.
    const etcd = this.#connect();
    try {
      await this.#call('defragment', ({ maintenance }, options) => maintenance.defragment(options), {
        etcd,
        limitMs: defragmentDeadlineMs,
      });
    } finally {
      etcd.close();
    }
  }

  /** The member's whole database as of now; see {@link readSnapshot}. */
  async *snapshot(signal?: AbortSignal): AsyncGenerator<Buffer> {
    const etcd = this.#connect();
    try {
      yield* readSnapshot(etcd, `read the snapshot of etcd member ${this.#endpoint.name}`, signal);
    } finally {
      etcd.close();
    }
  }

  /**
   * Lets the member count anew what is free in its database. It counts at each commit, and what one commit frees is
   * counted at the third after it at the latest; a member that nobody writes to commits nothing, and tells for ever what
   * was free before. To begin to read a snapshot is the one call that commits without a change of any data.
   */
  async recount(): Promise<void> {
    for (let commits = 0; commits < 3; commits++) {
      for await (const _ of this.snapshot(AbortSignal.timeout(deadlineMs))) break;
    }
  }

  /** How many keys the member has at a revision, which must not be compacted yet, in all and by resource. */
  keyCounts(revision: number): Promise<KeyCounts> {
    return countKeysByResource(async ({ start, end, what }) => {
      const wanted = what === 'Count' ? { count_only: true } : { keys_only: true, limit: 1 };
      const { count, kvs } = await this.#call(
        'count keys',
        ({ kv }, options) =>
          kv.range({ key: start, range_end: end, revision: String(revision), serializable: true, ...wanted }, options),
        { limitMs: countDeadlineMs },
      );
      return { count: Number(count), firstKey: kvs[0]?.key };
    });
  }

  /** Id of the etcd cluster in hexadecimal digits, as etcdctl prints it. */
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
      return await call(etcd, { deadline: Date.now() + limitMs });
    } catch (cause) {
      throw new Error(`${what} at etcd member ${this.#endpoint.name}: ${grpcMessage(cause)}`, { cause });
    }
  }

  #connect(): TrustingEtcd3 {
    const { address, serverName } = this.#endpoint;
    return new TrustingEtcd3(
      {
        hosts: `https://${address}`,
        grpcOptions: {
          'grpc.ssl_target_name_override': serverName,
          'grpc.default_authority': serverName,
          'grpc-node.flow_control_window': windowBytes,
        },
        faultHandling: { host: () => once, global: once },
      },
      this.#credentials,
    );
  }
}

/**
 * Whether etcd refuses a change of members only for now: a member is not connected, or a learner not there yet, or the id
 * of a new one, which is made from its address and the second, is that of one just removed.
 */
export function isRefusedForNow(error: unknown): boolean {
  return /unhealthy cluster|in sync with leader|too many learner|leader changed|re-configuration failed|member add.*member not found/.test(
    messageOf(error),
  );
}

/** What may be under way to us. With HTTP/2's own 64 KiB a snapshot waits for the line two thirds of its time. */
const windowBytes = 1 << 20;

type Policy = NonNullable<NonNullable<IOptions['faultHandling']>['global']>;

/**
 * Calls once, whatever comes of it. etcd3's own policies repeat calls, also those that add a member, and after errors,
 * even local ones, refuse all further calls for five seconds.
 */
const once = {
  execute: async <T>(call: (context: { signal: AbortSignal }) => PromiseLike<T> | T): Promise<T> =>
    call({ signal: new AbortController().signal }),
} as unknown as Policy;

/** A key that never is one: what is asked is whether the database answers. */
const anyKey = Buffer.from([0]);

const count = z.coerce.number();

/** etcd3's own type lacks half of the fields. */
const Status = z.object({
  header: z.object({ cluster_id: z.string(), member_id: z.string(), revision: count }),
  version: z.string(),
  leader: z.string(),
  raftTerm: count,
  raftIndex: count,
  raftAppliedIndex: count,
  dbSize: count,
  dbSizeInUse: count,
  errors: z.array(z.string()),
});

/** Alarms are among the errors of a status as `memberID:123 alarm:NOSPACE`, without the id when that is zero. */
function alarmsIn(error: string): MemberAlarm[] {
  const [, memberId = '0', name] = /^(?:memberID:(\d+) )?alarm:(NOSPACE|CORRUPT)/.exec(error) ?? [];
  if (!name) return [];
  return [{ memberId, alarm: name === 'NOSPACE' ? 'Nospace' : 'Corrupt' }];
}
