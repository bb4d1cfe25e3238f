import { randomBytes } from 'node:crypto';
import type { EtcdProcesses } from '../../cluster/etcd/etcd-processes.ts';

/** The size that an API server may write at once, slightly below etcd's limit. */
const valueBytes = 1 << 20;
const atOnce = 4;
/** Only ends what hangs: a busy disk takes seconds for a large value. */
const deadlineMs = 60_000;

/** Fills etcd with incompressible Secrets. */
export async function fill(cluster: EtcdProcesses, sizeBytes: number): Promise<void> {
  const keys = cluster.keys(deadlineMs);
  const numbers = Array.from({ length: Math.ceil(sizeBytes / valueBytes) }, (_, number) => number).values();
  const write = async (): Promise<void> => {
    for (const number of numbers) await keys.put(`/registry/secrets/bench/${number}`).value(randomBytes(valueBytes));
  };
  await Promise.all(Array.from({ length: atOnce }, write));
  keys.close();
}
