import { expect, test } from 'vitest';
import { Event, ServiceAccount } from '../../../constructs/api/resources.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { operatedNamespace } from '../../support/operated-namespace.ts';
import { single } from '../../support/workbench.ts';

interface EventObject extends KubeObject {
  readonly reason?: string;
  readonly note?: string;
  readonly regarding?: { readonly kind?: string };
}

const bench = operatedNamespace('life');

test('with the rights of an installation for its namespace a HostedControlPlane becomes a working cluster, is stable, and is gone after its deletion', async () => {
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
  // Phases that Ready does not wait for may be later.
  await expect.poll(wrong, { timeout: 60_000 }).toEqual([]);
  const { items: events } = await bench.client.list<EventObject>(Event, { namespace: 'life' });
  const ofControlPlane = events.filter(({ regarding }) => regarding?.kind === 'HostedControlPlane');
  const told = ofControlPlane.map(({ reason, note }) => `${reason}: ${note}`);
  expect(told).toContainEqual(expect.stringMatching(/^Ready: /));
  expect(told.slice(10)).toEqual([]);

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
  expect(bench.operator.requests.length).toBeLessThan(150);

  const before = await bench.everything();
  const requests = bench.operator.requests.length;

  // Only the status shows that a second reconcile has run.
  await bench.untilSeen('c1');
  expect(await bench.everything()).toEqual(before);
  const sent = bench.operator.requests.slice(requests).filter(({ verb }) => verb !== 'watch');
  expect(sent.map(({ verb, resource }) => `${verb} ${resource}`)).toEqual(['apply hostedcontrolplanes']);

  await bench.delete('c1');
  expect(await bench.everything()).toEqual([]);
  expect(bench.operator.requests.filter(({ code }) => code === 401 || code === 403)).toEqual([]);
});
