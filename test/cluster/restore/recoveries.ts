import { ConfigMap } from '../../../constructs/api/resources.ts';
import { until } from '../../support/until.ts';
import type { Workbench } from '../../support/workbench.ts';
import type { EtcdPods } from '../etcd-pods/etcd-pods.ts';

const fieldManager = 'test';
/** Other tests may share the processors. */
export const longMs = 300_000;

const stored = (name: string) => ({
  apiVersion: ConfigMap.apiVersion,
  kind: ConfigMap.kind,
  metadata: { namespace: 'default', name },
});

/** Resolves with whether an object exists, once the API server answers. */
export async function holds(bench: Workbench, cluster: string, name: string): Promise<boolean> {
  const hosted = await bench.hosted(cluster);
  try {
    const answer = await until(
      `the API server of ${cluster} to answer`,
      () => hosted.list(ConfigMap, { namespace: 'default' }).catch(() => undefined),
      longMs,
    );
    return answer.items.some(({ metadata }) => metadata.name === name);
  } finally {
    await hosted.connection.close();
  }
}

export async function write(bench: Workbench, cluster: string, name: string): Promise<void> {
  const hosted = await bench.hosted(cluster);
  try {
    await until(`${name} to be written`, () =>
      hosted.apply(stored(name), { fieldManager, force: true }).catch(() => undefined),
    );
  } finally {
    await hosted.connection.close();
  }
}

/** Etcd is never started empty. */
export async function untilRefusedToStart(etcd: EtcdPods, member: string): Promise<void> {
  await until(`${member} to have refused to start`, async () => (await etcd.restarts(member)) > 1, longMs);
}

export async function untilRecovered(bench: Workbench, cluster: string): Promise<string> {
  let seen: unknown;
  return until(
    `the recovery of ${cluster}`,
    async () => {
      const { etcd, conditions } = (await bench.get(cluster)).status ?? {};
      seen = [etcd?.restore, conditions?.filter(({ type }) => type.startsWith('Etcd'))];
      return etcd?.restore?.completionTime === undefined ? undefined : etcd.restore.restoredTo;
    },
    longMs,
    () => seen,
  );
}

export async function untilRestored(bench: Workbench, cluster: string) {
  try {
    return await until(
      `the restore of ${cluster}`,
      async () => {
        const restore = (await bench.get(cluster)).status?.etcd?.restore;
        return restore?.completionTime === undefined ? undefined : restore;
      },
      longMs,
    );
  } catch (cause) {
    const { status } = await bench.get(cluster);
    throw new Error(JSON.stringify(status?.conditions?.filter(({ type }) => type.startsWith('Etcd'))), { cause });
  }
}

/** Resolves with the message about the current spec. */
export function untilRefused(bench: Workbench, cluster: string, reason: string): Promise<string> {
  return until(
    `the restore of ${cluster} to be refused`,
    async () => {
      const { metadata, status } = await bench.get(cluster);
      const condition = status?.conditions?.find(({ type }) => type === 'EtcdRestoreReady');
      const isOfNow = condition?.observedGeneration === metadata.generation;
      return isOfNow && condition?.reason === reason ? condition.message : undefined;
    },
    longMs,
  );
}

/** A copy in which one bit is another one. */
export function flipped(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  const middle = Math.floor(copy.length / 2);
  copy.writeUInt8(copy.readUInt8(middle) ^ 1, middle);
  return copy;
}
