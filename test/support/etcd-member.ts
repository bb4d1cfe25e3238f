import type { MemberStatus, Registration } from '../../reconciler/etcd/members.ts';
import type { MemberCalls } from '../../reconciler/etcd/access.ts';

/** The state of the database of a {@link LoneMember} when it is read. */
export const snapshot = Buffer.from('the database');

/** The only member of an in-memory etcd cluster: healthy, leading, and empty. It answers reads and rejects changes. */
export class LoneMember implements MemberCalls {
  readonly #registration: Registration;
  readonly #clusterId: string;

  /** @param clusterId in hexadecimal digits */
  constructor({ name, peerUrl }: { readonly name: string; readonly peerUrl: string }, clusterId = '1267') {
    this.#clusterId = clusterId;
    this.#registration = { id: '1', name, isLearner: false, peerUrls: [peerUrl] };
  }

  close(): void {}

  async status() {
    const status: MemberStatus = {
      memberId: this.#registration.id,
      clusterId: BigInt(`0x${this.#clusterId}`).toString(),
      version: '3.6.16',
      leaderId: this.#registration.id,
      raftTerm: 2,
      raftIndex: 10,
      raftAppliedIndex: 10,
      revision: 7,
      dbSizeBytes: snapshot.length,
      dbSizeInUseBytes: snapshot.length,
      errors: [],
    };
    return { status, alarms: [] };
  }

  async members(): Promise<readonly Registration[]> {
    return [this.#registration];
  }

  async clusterVersion(): Promise<string> {
    return '3.6.0';
  }

  async reachedPeers(): Promise<ReadonlySet<string> | undefined> {
    return undefined;
  }

  async clusterId(): Promise<string> {
    return this.#clusterId;
  }

  async keyCounts() {
    return { total: 0, byResource: {} };
  }

  async *keys() {
    yield [];
  }

  async *snapshot(): AsyncGenerator<Buffer> {
    yield snapshot;
  }

  get source(): AsyncIterable<Uint8Array> {
    return this.snapshot();
  }

  async read(): Promise<void> {}
  async recount(): Promise<void> {}

  async isCompacted(): Promise<boolean> {
    return false;
  }

  hash = async () => refuse();
  addLearner = async () => refuse();
  promote = async () => refuse();
  remove = async () => refuse();
  moveLeader = async () => refuse();
  compact = async () => refuse();
  defragment = async () => refuse();
  disarm = async () => refuse();
}

function refuse(): never {
  throw new Error('this member can only be read');
}
