import { createSecureContext, type SecureContext } from 'node:tls';
import { Etcd3, type IOptions } from 'etcd3';
import { z } from 'zod';
import { messageOf } from '../kube/error-message.ts';
import type { MemberAlarm, MemberStatus } from './members.ts';

/** The address of one member, and the name in its certificate. */
export interface MemberEndpoint {
  /** Name of the member, for messages. */
  readonly name: string;
  /** Host and port; may be an address that no certificate contains. */
  readonly address: string;
  /** Host and port for HTTP, where it has one of its own. */
  readonly httpAddress?: string | undefined;
  readonly serverName: string;
}

/** PEM of the CA to trust, and of the certificate and key to present. */
export interface EtcdCredentials {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** A hash over the keys of a member. Two hashes are comparable only if both are `since` the same revision. */
export interface KeysHash {
  readonly hash: number;
  /** The revision of the last compaction. The hash does not include older versions of keys. */
  readonly since: string;
}

const Hash = z.object({ hash: z.number(), compact_revision: z.string() });

/** How etcd3 calls a method by name. Its own `hashKV` uses a name that gRPC does not know. */
interface Calls {
  exec(service: 'Maintenance', method: 'HashKV', request: { revision: string }, options: CallOptions): Promise<unknown>;
}

export type CallOptions = NonNullable<Parameters<Etcd3['maintenance']['status']>[0]>;

/**
 * The fields in which etcd3 keeps its dial settings, and gRPC its verification settings. Neither has an option for
 * them.
 */
interface Dialling {
  readonly hosts: readonly { readonly channelCredentials: { secureContext: SecureContext } }[];
}

const contexts = new WeakMap<EtcdCredentials, SecureContext>();

/**
 * Settings of TLS that trust exactly the given CAs, including a CA that an issuer has signed. Without `allowPartialTrustChain`, OpenSSL
 * requires the issuer's certificate too, and would trust everything else that the issuer signs. Reading a key takes as long as a
 * handshake, so that it happens once.
 */
export function secureContextOf(credentials: EtcdCredentials): SecureContext {
  const { ca, cert, key } = credentials;
  const known = contexts.get(credentials) ?? createSecureContext({ ca, cert, key, allowPartialTrustChain: true });
  contexts.set(credentials, known);
  return known;
}

/** A client that trusts exactly the given CAs, see {@link secureContextOf}. */
export class TrustingEtcd3 extends Etcd3 {
  constructor({ address, serverName }: MemberEndpoint, credentials: EtcdCredentials, longestAnswer = longestMessage) {
    super({
      hosts: `https://${address}`,
      credentials: { rootCertificate: Buffer.from(credentials.ca) },
      grpcOptions: {
        'grpc.ssl_target_name_override': serverName,
        'grpc.default_authority': serverName,
        'grpc-node.flow_control_window': windowBytes,
        'grpc.max_receive_message_length': longestAnswer,
      },
      faultHandling: { host: () => once, global: once },
    });
    const secureContext = secureContextOf(credentials);
    const { hosts } = this.pool as unknown as Dialling;
    for (const { channelCredentials } of hosts) channelCredentials.secureContext = secureContext;
  }

  /** A hash over all keys and versions of a member up to this revision. */
  async hashKeys(revision: number, options: CallOptions): Promise<KeysHash> {
    const calls = this.pool as unknown as Calls;
    const answer = await calls.exec('Maintenance', 'HashKV', { revision: String(revision) }, options);
    const { hash, compact_revision: since } = Hash.parse(answer);
    return { hash, since };
  }
}

/**
 * Bytes of the longest message: etcd sends 32 KiB of a snapshot at a time, and some KiB of all else. The image of a member may be a
 * user's own, and each two bytes of its answer become an object of some hundred.
 */
const longestMessage = 64 << 10;

/** Receive window. With the 64 KiB of HTTP/2, a snapshot waits for the network two thirds of its time. */
const windowBytes = 1 << 20;

type Policy = NonNullable<NonNullable<IOptions['faultHandling']>['global']>;

/**
 * Calls once, without retries. etcd3's own policies repeat calls, including those that add a member. After errors, even
 * local ones, they refuse all further calls for five seconds.
 */
const once = {
  execute: async <T>(call: (context: { signal: AbortSignal }) => PromiseLike<T> | T): Promise<T> =>
    call({ signal: new AbortController().signal }),
} as unknown as Policy;

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

/** What a member reports about itself, and the alarms that it knows. */
export interface ReportedStatus {
  readonly status: MemberStatus;
  readonly alarms: readonly MemberAlarm[];
}

/** Reads the answer of a member to a request for its status. @throws when a field is missing */
export function statusIn(answer: unknown): ReportedStatus {
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

/**
 * Parses alarms. The errors of a status contain them as `memberID:123 alarm:NOSPACE`, without the ID if it is zero, and with
 * one or two spaces since etcd 3.7, whose protobuf library varies them from build to build.
 */
export function alarmsIn(error: string): MemberAlarm[] {
  const [, memberId = '0', name] = /^(?:memberID:(\d+) +)?alarm:(NOSPACE|CORRUPT)/.exec(error) ?? [];
  if (!name) return [];
  return [{ memberId, alarm: name === 'NOSPACE' ? 'Nospace' : 'Corrupt' }];
}

/** The cause of a failed call to etcd, without details that change from call to call, because conditions repeat it. */
export function grpcMessage(error: unknown): string {
  const message = messageOf(error)
    .slice(0, longestError)
    .replace(/^\d{1,3} [A-Z_]{1,40}: /, '');
  if (message.startsWith('Deadline exceeded')) return 'no answer in time';
  if (message.startsWith('Received message larger than max')) return 'the answer is longer than any of etcd';
  return lastError(message) ?? message;
}

/** What is between `Last error: ` and the full stop before ` Resolution note:`. */
function lastError(message: string): string | undefined {
  const from = message.indexOf(before) + before.length;
  const to = message.indexOf(' Resolution note:', from);
  if (from < before.length || to <= from) return undefined;
  const cause = message.slice(from, to);
  const text = cause.startsWith('Error: ') ? cause.slice('Error: '.length) : cause;
  return text.endsWith('.') ? text.slice(0, -1) : text;
}

const before = 'Last error: ';
/** A member's image may be a user's own, and say anything. */
const longestError = 4096;
