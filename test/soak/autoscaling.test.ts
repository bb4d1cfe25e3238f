import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { HostedControlPlane, type Resource } from '../../constructs/api/resources.ts';
import { ContinuousLoad } from '../support/continuous-load.ts';
import { operatedNamespace } from '../support/operated-namespace.ts';
import { until } from '../support/until.ts';
import { single } from '../support/workbench.ts';
import { openHostedApi } from '../tools/testbed/hosted-api.ts';
import { instanceFrom } from '../tools/testbed/instance.ts';
import { installMetricsServer } from '../tools/testbed/metrics-server.ts';

const HorizontalPodAutoscaler: Resource = {
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  plural: 'horizontalpodautoscalers',
  namespaced: true,
};

const instance = instanceFrom(process.env, inject('testbed'));
const namespace = 'autoscaling';
const cluster = 'c1';
const bench = operatedNamespace(namespace);
/** An autoscaler looks every 15 s, at metrics that are as old, and it adds what it thinks is missing step by step. */
const limitMs = 240_000;
let load: ContinuousLoad;

beforeAll(async () => {
  await installMetricsServer(instance, bench.client, (line) => console.log(line));
  await bench.create(cluster, single);
  await bench.untilReady(cluster);
  const open = async () => (await openHostedApi(instance, bench.client, { namespace, name: cluster })).client;
  load = new ContinuousLoad({ path: '/api/v1/namespaces', open });
});
afterAll(() => load?.stop());

/** Keeps the processor time of an API server at this quantity on average, with between `minReplicas` and five of them. */
async function autoscale(averageValue: string, minReplicas: number): Promise<void> {
  const { apiVersion, kind } = HorizontalPodAutoscaler;
  const target = { apiVersion: HostedControlPlane.apiVersion, kind: HostedControlPlane.kind, name: `${cluster}-cp` };
  const cpu = { name: 'cpu', target: { type: 'AverageValue', averageValue } };
  const spec = {
    scaleTargetRef: target,
    minReplicas,
    maxReplicas: 5,
    metrics: [{ type: 'Resource', resource: cpu }],
    behavior: { scaleDown: { stabilizationWindowSeconds: 0 } },
  };
  const autoscaler = { apiVersion, kind, metadata: { namespace, name: cluster }, spec };
  await bench.client.apply(autoscaler, { resource: HorizontalPodAutoscaler, fieldManager: 'test' });
}

/** Resolves when this many API servers are ready and no other is left. */
async function untilReplicas(wanted: number): Promise<void> {
  const counts = { replicas: wanted, readyReplicas: wanted, availableReplicas: wanted };
  let last: object = {};
  await until(
    `${wanted} API servers`,
    async () => {
      const { spec, status } = await bench.get(cluster);
      const { replicas, readyReplicas, availableReplicas } = status ?? {};
      last = { asked: spec.replicas, replicas, readyReplicas, availableReplicas };
      return JSON.stringify(last) === JSON.stringify({ asked: wanted, ...counts });
    },
    limitMs,
    () => last,
  );
}

test('a HorizontalPodAutoscaler adds API servers up to five by their processor time', async () => {
  await autoscale('1m', 1);
  await untilReplicas(5);
  expect(await bench.pods(cluster, 'api-server')).toHaveLength(5);
});

test('and removes them again', async () => {
  await autoscale('100', 2);
  await untilReplicas(2);
  expect((await bench.condition(cluster, 'ScalingDown'))?.status).toBe('False');
});

test('no request has failed meanwhile, and every write was seen', async () => {
  await load.stopWriting();
  await until(
    'the last events',
    () => load.unseen.length === 0,
    30_000,
    () => load.unseen,
  );
  await load.stop();
  const { writes, calls, events } = load;
  console.log(JSON.stringify({ writes, calls, events }));
  expect([...writes.reasons, ...writes.failures, ...calls.failures, ...events.failures]).toEqual([]);
  expect(writes.answered).toBeGreaterThan(100);
});

test('its spec names the autoscaler as the owner of its replicas, and the operator leaves them alone', async () => {
  const { metadata, spec } = await bench.get(cluster);
  expect(spec.replicas).toBe(2);
  const owners = (metadata.managedFields ?? []).filter(({ fieldsV1 }) =>
    JSON.stringify(fieldsV1 ?? {}).includes('"f:replicas"'),
  );
  expect(owners.map(({ subresource }) => subresource)).toContain('scale');
});
