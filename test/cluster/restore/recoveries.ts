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
