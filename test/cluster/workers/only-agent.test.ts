import { afterAll, beforeAll, expect, test } from 'vitest';
import { Pod } from '../../../constructs/api/resources.ts';
import type { PodObject } from '../../../reconciler/kube/readiness.ts';
import { until } from '../../support/until.ts';
import { addWorker, type Worker } from '../../testbed/workers.ts';
import { type JoinableCluster, openJoinableCluster } from './joinable-cluster.ts';

let cluster: JoinableCluster;
let worker: Worker;

beforeAll(async () => {
  cluster = await openJoinableCluster('only-agent');
  worker = await addWorker(cluster.instance, cluster.api);
  await until('the kubelet to be reached', () => call(5_000).catch(() => false), 180_000);
});
afterAll(() => cluster.close());

/** Sends a request to the kubelet through the API server, as `kubectl logs` does and as webhooks are called. */
const call = (deadlineMs: number) =>
  cluster.api.client.raw(`/api/v1/nodes/${worker.name}/proxy/healthz`, { deadlineMs });

async function agents(): Promise<PodObject[]> {
  const selection = { namespace: 'kube-system', labelSelector: 'k8s-app=konnectivity-agent' };
  return (await cluster.api.client.list<PodObject>(Pod, selection)).items;
}

test('the only agent of the only node is replaced without a lost call', async () => {
  const [before] = await agents();
  await cluster.bench.patch('hosted', { spec: { konnectivityClient: { args: { v: '1' } } } });
  const failures: string[] = [];
  let most = 0;
  await until(
    'another agent alone',
    async () => {
      // On a busy machine an answer may take long; a lost call gets none at all.
      await call(60_000).catch((error: unknown) => failures.push(String(error)));
      const [agent, ...others] = await agents();
      most = Math.max(most, 1 + others.length);
      return agent && others.length === 0 && agent.metadata.uid !== before?.metadata.uid;
    },
    180_000,
  );
  expect(most).toBe(2);
  expect(failures).toEqual([]);
});
