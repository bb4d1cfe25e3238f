import { request } from 'node:https';
import { z } from 'zod';
import type { EtcdCredentials, MemberEndpoint } from './member-endpoint.ts';

/** For what etcd3, or the gRPC API of etcd 3.5, does not tell. */
export interface HttpAccess {
  readonly member: MemberEndpoint;
  readonly credentials: EtcdCredentials;
  /** After which a question fails. */
  readonly deadlineMs: number;
}

const Versions = z.object({ etcdcluster: z.string().min(1) });

/**
 * The version that all members of a cluster behave as, such as `3.6.0`, as one of them knows it. etcd raises it some
 * seconds after the last member runs that minor.
 */
export async function readClusterVersion(access: HttpAccess): Promise<string> {
  const answer = await ask(access, 'the version of its cluster', { method: 'GET', path: '/version' });
  return Versions.parse(answer).etcdcluster;
}

const Hash = z.object({ hash: z.number(), compact_revision: z.string().default('0') });

/** A hash over the keys of a member. Two of them compare only when both are `since` the same revision. */
export interface KeysHash {
  readonly hash: number;
  /** The revision of the last compaction: older versions of keys are not in it. */
  readonly since: string;
}

/** A hash over all keys and versions that a member has up to this revision. */
export async function readHash(access: HttpAccess, revision: number): Promise<KeysHash> {
  const body = JSON.stringify({ revision });
  const answer = await ask(access, 'the hash of its keys', { method: 'POST', path: '/v3/maintenance/hash', body });
  const { hash, compact_revision: since } = Hash.parse(answer);
  return { hash, since };
}

interface Question {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
}

async function ask(
  { member: { name, address, serverName }, credentials, deadlineMs }: HttpAccess,
  what: string,
  { method, path, body }: Question,
): Promise<unknown> {
  const text = await new Promise<string>((resolve, reject) => {
    const asked = request(
      `https://${address}${path}`,
      {
        method,
        ...credentials,
        // an authority that an issuer has signed is trusted by itself
        allowPartialTrustChain: true,
        servername: serverName,
        agent: false,
        signal: AbortSignal.timeout(deadlineMs),
      },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
        answer.on('error', reject);
      },
    );
    asked.on('error', reject);
    asked.end(body);
  }).catch((cause: unknown) => {
    throw new Error(`ask etcd member ${name} for ${what}`, { cause });
  });
  return JSON.parse(text);
}
