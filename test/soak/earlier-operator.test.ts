import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { newestRevision } from '../../constructs/cluster/release-revisions.ts';
import { ContinuousLoad, kubeletPath } from '../support/continuous-load.ts';
import { EarlierCheckout } from '../support/earlier-checkout.ts';
import { installProvider, removeProvider } from '../support/provider.ts';
import { RestartCounter } from '../support/restart-counter.ts';
import { until } from '../support/until.ts';
import { single, Workbench } from '../support/workbench.ts';
import { openHostedApi } from '../tools/testbed/hosted-api.ts';
import { instanceFrom } from '../tools/testbed/instance.ts';
import { addWorker, endWorker, type Worker } from '../tools/testbed/workers.ts';

// Users upgrade the operator of a fleet. The one before is of the last commit of the release revision before.
const earlier = { commit: 'fe36260dc77bc5c85558496e368831c3b5a8115b', revision: 3 };
const namespace = 'earlier-operator';
const clusters = ['ha', 'one'] as const;
const limitMs = 300_000;
const instance = instanceFrom(process.env, inject('testbed'));
const report = (line: string) => console.log(line);

let checkout: EarlierCheckout;
let bench: Workbench;
let worker: Worker | undefined;
let load: ContinuousLoad;
let restarts: readonly RestartCounter[] = [];

beforeAll(async () => {
  checkout = await EarlierCheckout.of(earlier.commit);
  await removeProvider(instance);
  await installProvider(instance, report, checkout.directory);
  bench = await Workbench.open(inject('kubeconfig'), namespace);
  const exposure = { loadBalancer: {} };
  await bench.create('ha', { ...single, replicas: 2, etcd: { replicas: 3 }, exposure });
  await bench.create('one', { ...single, exposure });
  for (const cluster of clusters) await bench.untilReady(cluster, limitMs);
  worker = await addWorker(instance, { namespace, name: 'ha' });
  restarts = clusters.map((cluster) => new RestartCounter(bench.client, { namespace, cluster }));
  const open = async () => (await openHostedApi(instance, bench.client, { namespace, name: 'ha' })).client;
  await until('calls to reach the worker', async () => {
    const client = await open();
    const answer = await client.raw(kubeletPath(worker?.name ?? '')).catch(() => undefined);
    await client.connection.close();
    return answer !== undefined;
  });
  load = new ContinuousLoad({ path: kubeletPath(worker.name), open });
});
afterAll(async () => {
  await load?.stop();
  for (const counter of restarts) await counter.stop();
  if (worker) await endWorker(instance, worker.name);
  await bench?.close();
  await removeProvider(instance);
  await checkout?.remove();
});

const counts = () => Promise.all(restarts.map((counter) => counter.count()));
const revisions = () =>
  Promise.all(clusters.map(async (cluster) => (await bench.get(cluster)).status?.releaseRevision));

test('this operator takes the control planes of the one before, and restarts nothing', async () => {
  const before = await counts();
  expect(await revisions()).toEqual([earlier.revision, earlier.revision]);
  await installProvider(instance, report);
  for (const cluster of clusters) {
    await bench.untilSeen(cluster);
    await bench.untilReady(cluster, limitMs);
    expect((await bench.condition(cluster, 'SpecAccepted'))?.message).toContain(`adopt-revision: "${newestRevision}"`);
  }
  expect(await counts()).toEqual(before);
  expect(await revisions()).toEqual([earlier.revision, earlier.revision]);
});

test('no write, no watch and no call through a worker has failed meanwhile', async () => {
  await load.stop();
  expect(load.writes.answered).toBeGreaterThan(100);
  for (const { failures, reasons } of [load.writes, load.calls, load.events]) {
    expect([...reasons, ...failures]).toEqual([]);
  }
});

test('it deletes them', async () => {
  await bench.deleteAll();
  expect(await bench.everything()).toEqual([]);
});
