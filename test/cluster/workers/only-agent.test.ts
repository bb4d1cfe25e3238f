import { afterAll, beforeAll, expect, test } from 'vitest';
import { Pod } from '../../../constructs/api/resources.ts';
import type { PodObject } from '../../../reconciler/kube/readiness.ts';
import { until } from '../../support/until.ts';
import { borrowJoinableCluster, giveBack, type JoinedWorker, type LentCluster } from './joinable-cluster.ts';

let cluster: LentCluster;
/** The only node that takes agents. */
let worker: JoinedWorker;
let other: JoinedWorker;

beforeAll(async () => {
  cluster = await borrowJoinableCluster();
  [worker, other] = cluster.workers;
  await cluster.kubectl(['cordon', other.name]);
  await cluster.bench.patch('hosted', { spec: { konnectivityClient: { replicas: 1 } } });
  await until(
    'one agent, on the worker',
    async () => {
      const [agent, ...others] = await agents();
      if (!agent || others.length > 0) return false;
      if (nodeOf(agent) === worker.name) return true;
      // its successor cannot start where it is
      if (!agent.metadata.deletionTimestamp) await cluster.api.client.delete(Pod, agent.metadata);
      return false;
    },
    180_000,
  );
  await until('the kubelet to be reached', () => call(5_000).catch(() => false), 180_000);
});
afterAll(() =>
  giveBack(cluster, async () => {
    await cluster.kubectl(['uncordon', other.name]);
    await cluster.bench.undo();
  }),
);

/** Sends a request to the kubelet through the API server, as `kubectl logs` does and as webhooks are called. */
const call = (deadlineMs: number) =>
  cluster.api.client.raw(`/api/v1/nodes/${worker.name}/proxy/healthz`, { deadlineMs });

async function agents(): Promise<PodObject[]> {
  const selection = { namespace: 'kube-system', labelSelector: 'k8s-app=konnectivity-agent' };
  return (await cluster.api.client.list<PodObject>(Pod, selection)).items;
}

function nodeOf(pod: PodObject & { readonly spec?: { readonly nodeName?: string } }): string | undefined {
  return pod.spec?.nodeName;
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
      const now = await agents();
      most = Math.max(most, now.length);
      const [agent, ...others] = now;
      return agent && others.length === 0 && agent.metadata.uid !== before?.metadata.uid;
    },
    180_000,
  );
  expect(most).toBe(2);
  expect(failures).toEqual([]);
  expect((await agents()).map(nodeOf)).toEqual([worker.name]);
});
