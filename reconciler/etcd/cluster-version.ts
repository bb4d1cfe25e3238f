import { request } from 'node:https';
import { z } from 'zod';
import type { EtcdCredentials, MemberEndpoint } from './member-endpoint.ts';

const Versions = z.object({ etcdcluster: z.string().min(1) });

/**
 * The version that all members of a cluster behave as, such as `3.6.0`, as one of them knows it. etcd raises it some
 * seconds after the last member runs that minor. The gRPC API of 3.5 does not tell it.
 * @param deadlineMs after which it fails
 */
export async function readClusterVersion(
  { name, address, serverName }: MemberEndpoint,
  credentials: EtcdCredentials,
  deadlineMs: number,
): Promise<string> {
  const text = await new Promise<string>((resolve, reject) => {
    const asked = request(
      `https://${address}/version`,
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
    throw new Error(`ask etcd member ${name} for the version of its cluster`, { cause });
  });
  return Versions.parse(JSON.parse(text)).etcdcluster;
}
