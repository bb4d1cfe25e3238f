import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { ServiceAccount } from '../../../constructs/api/resources.ts';
import { startOperator, type TestOperator } from '../../support/operator.ts';
import { until } from '../../support/until.ts';
import { single, Workbench } from '../../support/workbench.ts';

let bench: Workbench;
let operator: TestOperator;
beforeAll(async () => {
  bench = await Workbench.open(inject('kubeconfig'), 'life');
  operator = await startOperator({ kubeconfig: inject('kubeconfig'), namespace: 'life' });
});
afterAll(async () => {
  await operator.stop();
  await bench.close();
});

test('a HostedControlPlane becomes a cluster that works, rests, and is gone when deleted', async () => {
  await bench.create('c1', single);
  await bench.untilReady('c1');

  const hosted = await bench.hosted('c1');
  expect(await hosted.raw('/readyz')).toBe('ok');
  await hosted.create(
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'written' }, data: { a: 'b' } },
    { fieldManager: 'test' },
  );
  expect(await hosted.find(ServiceAccount, { namespace: 'default', name: 'default' })).toBeDefined();
  await hosted.connection.close();

  const negative = ['RollingOut', 'ScalingUp', 'ScalingDown', 'Deleting', 'Paused'];
  const wrong = async () =>
    (await bench.get('c1')).status?.conditions?.filter(
      ({ type, status: value }) => value !== (negative.includes(type) ? 'False' : 'True'),
    );
  // What Ready does not wait for may come a moment later.
  await expect.poll(wrong, { timeout: 60_000 }).toEqual([]);

  const { status, spec } = await bench.get('c1');
  expect(status).toMatchObject({
    initialization: { controlPlaneInitialized: true },
    externalManagedControlPlane: true,
    version: single.version,
    versions: [{ version: single.version, replicas: 1 }],
    replicas: 1,
    readyReplicas: 1,
    availableReplicas: 1,
    upToDateReplicas: 1,
  });
  expect(spec.controlPlaneEndpoint).toMatchObject({ port: 6443 });
  expect(operator.requests.length).toBeLessThan(150);

  const before = await bench.everything();
  const requests = operator.requests.length;

  // A second pass over everything, forced by a field nobody reads: only the status tells that it was seen.
  await bench.patch('c1', { spec: { machineTemplate: { metadata: { labels: { touched: 'yes' } } } } });
  await until('the second pass', async () => {
    const { metadata, status: seen } = await bench.get('c1');
    return seen?.observedGeneration === metadata.generation;
  });
  expect(await bench.everything()).toEqual(before);
  const sent = operator.requests.slice(requests).filter(({ verb }) => verb !== 'watch');
  expect(sent.map(({ verb, resource }) => `${verb} ${resource}`)).toEqual(['apply hostedcontrolplanes']);

  await bench.delete('c1');
  expect(await bench.everything()).toEqual([]);
});
