import type { SecureContext } from 'node:tls';
import { Etcd3, type IOptions } from 'etcd3';
import { z } from 'zod';
import { type EtcdCredentials, secureContextOf } from './member-endpoint.ts';

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

type CallOptions = NonNullable<Parameters<Etcd3['maintenance']['status']>[0]>;

/**
 * The fields in which etcd3 keeps its dial settings, and gRPC its verification settings. Neither has an option for
 * them.
 */
interface Dialling {
  readonly hosts: readonly { readonly channelCredentials: { secureContext: SecureContext } }[];
}

/** A client that trusts exactly the given CAs, see {@link secureContextOf}. */
export class TrustingEtcd3 extends Etcd3 {
  constructor(options: IOptions, credentials: EtcdCredentials) {
    super({ ...options, credentials: { rootCertificate: Buffer.from(credentials.ca) } });
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
