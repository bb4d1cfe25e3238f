import { request } from 'node:https';
import { z } from 'zod';
import type { EtcdCredentials, MemberEndpoint } from './member-endpoint.ts';

/** For what the gRPC API of etcd 3.5 does not tell. */
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
  const answer = await ask(access, 'the version of its cluster', '/version');
  return Versions.parse(answer).etcdcluster;
}

async function ask(
  { member: { name, address, serverName }, credentials, deadlineMs }: HttpAccess,
  what: string,
  path: string,
): Promise<unknown> {
  const text = await new Promise<string>((resolve, reject) => {
    const asked = request(
      `https://${address}${path}`,
      {
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
    asked.end();
  }).catch((cause: unknown) => {
    throw new Error(`ask etcd member ${name} for ${what}`, { cause });
  });
  return JSON.parse(text);
}
