import { request, type RequestOptions } from 'node:https';
import type { ConnectionOptions } from 'node:tls';
import { z } from 'zod';
import { type EtcdCredentials, type MemberEndpoint, secureContextOf } from './etcd3-client.ts';

/** For data that the gRPC API of etcd 3.5 does not provide. */
export interface HttpAccess {
  readonly member: MemberEndpoint;
  readonly credentials: EtcdCredentials;
  /** Deadline of a request. */
  readonly deadlineMs: number;
}

/** The image of a member may be a user's own, and answer anything. */
const longestAnswer = 64 * 1024;

/** etcd 3.6 answers with 172 KiB when it has just started, and with more series once clients use more methods. */
const longestMetrics = 1024 * 1024;

const Versions = z.object({ etcdcluster: z.string().min(1) });

/**
 * The cluster version, as which all members behave, such as `3.6.0`, as one member knows it. etcd raises it some
 * seconds after the last member runs that minor.
 */
export async function readClusterVersion(access: HttpAccess): Promise<string> {
  const answer = await ask(access, 'the cluster version', '/version', longestAnswer);
  return Versions.parse(JSON.parse(answer)).etcdcluster;
}

/** IDs of the members that a member reaches; undefined if it does not say. */
export async function readReachedPeers(access: HttpAccess): Promise<ReadonlySet<string> | undefined> {
  return reachedPeers(await ask(access, 'the metrics', '/metrics', longestMetrics));
}

/**
 * The members that a member reaches, by its own metrics: IDs in decimal; undefined if they say nothing of peers. Labels are hexadecimal.
 * etcd sets the gauge to 0 when it fails to dial a peer, also while that peer has dialled it
 * (server/etcdserver/api/rafthttp/peer_status.go).
 */
export function reachedPeers(metrics: string): ReadonlySet<string> | undefined {
  const peers = metrics.split('\n').flatMap((line) => {
    const [, id = '', value] = activePeer.exec(line) ?? [];
    return value === undefined ? [] : [{ id: BigInt(`0x${id}`).toString(), isReached: value === '1' }];
  });
  return peers.length === 0 ? undefined : new Set(peers.flatMap(({ id, isReached }) => (isReached ? [id] : [])));
}

const activePeer = /^etcd_network_active_peers\{Local="[0-9a-f]{1,16}",Remote="([0-9a-f]{1,16})"\} ([01])$/;

async function ask(
  { member: { name, address, httpAddress = address, serverName }, credentials, deadlineMs }: HttpAccess,
  what: string,
  path: string,
  longest: number,
): Promise<string> {
  return new Promise<string>((resolve, reject) => {
    const options: RequestOptions & Pick<ConnectionOptions, 'secureContext'> = {
      secureContext: secureContextOf(credentials),
      servername: serverName,
      agent: false,
      signal: AbortSignal.timeout(deadlineMs),
    };
    const asked = request(`https://${httpAddress}${path}`, options, (answer) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > longest) asked.destroy(new Error(`the answer is larger than ${longest / 1024} KiB`));
        else chunks.push(chunk);
      });
      answer.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
      answer.on('error', reject);
    });
    asked.on('error', reject);
    asked.end();
  }).catch((cause: unknown) => {
    throw new Error(`cannot read ${what} from etcd member ${name}`, { cause });
  });
}
