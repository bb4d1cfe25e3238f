import { afterAll, beforeAll, expect, test } from 'vitest';
import { adoptRevisionAnnotation } from '../../../../constructs/api/group.ts';
import { newestRevision, oldestKept } from '../../../../constructs/cluster/release-revisions.ts';
import { operatedNamespace } from '../../../support/operated-namespace.ts';
import { RestartCounter } from '../../../support/restart-counter.ts';
import { single } from '../../../support/workbench.ts';
import { until } from '../../../support/until.ts';

const namespace = 'operator-upgrade';
const cluster = 'c1';

/** The newest release revision of the operator before: the oldest one that this operator lets control planes keep. */
const earlier = oldestKept();
const bench = operatedNamespace(namespace, { newestRevision: earlier });
let restarts: RestartCounter;

beforeAll(async () => {
  await bench.create(cluster, { ...single, etcd: { replicas: 3 } });
  await bench.untilReady(cluster);
  restarts = new RestartCounter(bench.client, { namespace, cluster });
});
afterAll(() => restarts.stop());

const revision = async () => (await bench.get(cluster)).status?.releaseRevision;

test('an operator with a newer release revision restarts nothing, and a scaled API server is one more pod', async () => {
  expect(await revision()).toBe(earlier);
  const before = await restarts.count();
  await bench.stopOperator();
  bench.newestRevision = undefined;
  await bench.startOperator();
  await bench.untilSeen(cluster);
  expect(await restarts.count()).toEqual(before);

  await bench.patch(cluster, { spec: { replicas: 2 } });
  await until('two API servers', async () => (await bench.get(cluster)).status?.readyReplicas === 2, 120_000);
  expect(await restarts.count()).toEqual({ ...before, 'api-server': 2 });
  expect(await revision()).toBe(earlier);
  expect((await bench.condition(cluster, 'SpecAccepted'))?.message).toContain(
    `${adoptRevisionAnnotation}: "${newestRevision}"`,
  );
});

test('on request it replaces the API servers, whose template differs, and nothing else', async () => {
  const before = await restarts.pods();
  await bench.patch(cluster, { metadata: { annotations: { [adoptRevisionAnnotation]: String(newestRevision) } } });
  await until('the newest release revision', async () => (await revision()) === newestRevision);
  await bench.untilReady(cluster);
  expect(await restarts.pods()).toEqual({ ...before, 'api-server': 4 });
});
