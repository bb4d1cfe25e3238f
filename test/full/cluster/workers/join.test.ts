import { afterAll, beforeAll, expect, test } from 'vitest';
import { borrowJoinableCluster, giveBack, type LentCluster } from '../../../cluster/workers/joinable-cluster.ts';
import { forwardPort } from '../../../cluster/workers/port-forward.ts';
import { startWebServer, untilAddOnRuns, webServer, webService } from '../../../cluster/workers/web-server.ts';
import { until } from '../../../support/until.ts';
import { addWorker, removeWorker } from '../../../tools/testbed/workers.ts';

let cluster: LentCluster;
let pods: readonly string[];

beforeAll(async () => {
  cluster = await borrowJoinableCluster();
  pods = await startWebServer(cluster);
});
afterAll(() => giveBack(cluster, () => cluster.remove(webService, webServer)));

test('a removed worker is no node any more, and leaves nothing on the host', async () => {
  const { instance, api } = cluster;
  const { name } = await addWorker(instance, api, undefined, { name: 'brief' });
  // as administrators do: a pod of CoreDNS on a node that vanishes has no successor before a minute has passed
  await cluster.kubectl(['drain', name, '--ignore-daemonsets', '--delete-emptydir-data', '--timeout=180s']);
  expect(await removeWorker(instance, name)).toEqual([]);
  expect(await cluster.kubectl(['get', 'node', name, '--ignore-not-found'])).toBe('');
});

test('kubectl forwards a port to every replica', async () => {
  for (const pod of pods) {
    const forwarded = await forwardPort(cluster.instance, cluster.api, pod, 8080);
    try {
      const answer = await fetch(`http://127.0.0.1:${forwarded.port}/`);
      expect(cluster.workers.map(({ name }) => name)).toContain((await answer.text()).trim());
    } finally {
      await forwarded.close();
    }
  }
});

test('without a konnectivity agent kubectl reports what is missing, and works again when it is back', async () => {
  const agents = ['--namespace', 'kube-system', 'deployment/konnectivity-agent'];
  await cluster.setPaused(true);
  await cluster.kubectl(['scale', ...agents, '--replicas=0']);
  const logs = () => cluster.kubectl(['logs', 'deployment/web']);
  await until('logs to fail for want of an agent', () =>
    logs().then(
      () => false,
      (error: unknown) => String(error).includes('No agent available'),
    ),
  );
  await cluster.setPaused(false);
  // without agents it is rolled out, too
  await cluster.kubectl(['wait', ...agents, '--for=jsonpath={.spec.replicas}=2', '--timeout=180s']);
  await untilAddOnRuns(cluster, 'konnectivity-agent');
  expect(await until('logs to work', () => logs().catch(() => undefined))).toContain('serving on');
});
