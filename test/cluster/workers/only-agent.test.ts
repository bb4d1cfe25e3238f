import type { PodObject } from '../../../imports/kubernetes.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Node, Pod } from '../../../constructs/api/resources.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { isReady } from '../../../reconciler/kube/readiness.ts';
import { until } from '../../support/until.ts';
import { borrowJoinableCluster, giveBack, type JoinedWorker, type LentCluster } from './joinable-cluster.ts';

interface AddressedNode extends KubeObject {
  readonly status: {
    readonly addresses: readonly { readonly type: string; readonly address: string }[];
    readonly daemonEndpoints: object;
  };
}

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
const call = (deadlineMs: number, node = worker.name) =>
  cluster.api.client.raw(`/api/v1/nodes/${node}/proxy/healthz`, { deadlineMs });

async function agents(): Promise<PodObject[]> {
  const selection = { namespace: 'kube-system', labelSelector: 'k8s-app=konnectivity-agent' };
  return (await cluster.api.client.list<PodObject>(Pod, selection)).items;
}

function nodeOf(pod: PodObject): string | undefined {
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

test('the successor of a deleted agent answers its probes itself, on the same node, without a restart', async () => {
  const [before] = await agents();
  if (!before) throw new Error('there is no agent');
  await cluster.api.client.delete(Pod, before.metadata);
  let after: PodObject | undefined;
  await until(
    'the successor to be ready',
    async () => {
      [after] = (await agents()).filter(({ metadata }) => metadata.uid !== before.metadata.uid);
      return after !== undefined && isReady(after);
    },
    // ten seconds of its predecessor, a start, and a probe; its liveness probe would need 80 s to replace it
    60_000,
  );
  expect(after && nodeOf(after)).toBe(worker.name);
  expect(after?.status?.containerStatuses?.map(({ restartCount }) => restartCount)).toEqual([0]);
  await call(60_000);
});

test('a second agent waits for a node of its own, and gets it once that takes pods again', async () => {
  await cluster.bench.patch('hosted', { spec: { konnectivityClient: { replicas: 2 } } });
  await until('the second agent to be refused', async () =>
    (await agents()).some(({ status }) =>
      status?.conditions?.some(({ type, message }) => type === 'PodScheduled' && /free ports/.test(message ?? '')),
    ),
  );
  await cluster.kubectl(['uncordon', other.name]);
  await until('both agents to be ready', async () => (await agents()).filter(isReady).length === 2, 120_000);
  const nodes = (await agents()).flatMap((agent) => nodeOf(agent) ?? []);
  expect(nodes.toSorted()).toEqual([worker.name, other.name].toSorted());
});

test('a node that has an external address only is reached', async () => {
  const node = await cluster.api.client.get<AddressedNode>(Node, worker);
  const { daemonEndpoints, addresses } = node.status;
  const internal = addresses.filter(({ type }) => type === 'InternalIP');
  const name = 'external-only';
  const { apiVersion, kind } = Node;
  await cluster.apply({ apiVersion, kind, metadata: { name } });
  try {
    const external = internal.map(({ address }) => ({ type: 'ExternalIP', address }));
    const status = { daemonEndpoints, addresses: [...external, { type: 'Hostname', address: name }] };
    await cluster.kubectl([
      'patch',
      'node',
      name,
      '--subresource=status',
      '--type=merge',
      '--patch',
      JSON.stringify({ status }),
    ]);
    expect(await call(60_000, name)).toBe('ok');
  } finally {
    await cluster.remove({ apiVersion, kind, metadata: { name } });
  }
});
