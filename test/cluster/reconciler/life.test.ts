import { expect, test } from 'vitest';
import { ConfigMap, Event, ServiceAccount } from '../../../constructs/api/resources.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { borrow } from '../../support/lent/borrow.ts';
import { until } from '../../support/until.ts';
import { single } from '../../support/workbench.ts';

interface EventObject extends KubeObject {
  readonly reason?: string;
  readonly note?: string;
  readonly regarding?: { readonly kind?: string };
}

/** It is the one that the next files borrow; `end` deletes it. */
const bench = borrow('plain', { fromBirth: true });

test('with the rights of an installation for its namespace a HostedControlPlane becomes a working cluster', async () => {
  const hosted = await bench.hosted('c1');
  expect(await hosted.raw('/readyz')).toBe('ok');
  const written = { namespace: 'default', name: 'written' };
  const { apiVersion, kind } = ConfigMap;
  await hosted.create({ apiVersion, kind, metadata: written, data: { a: 'b' } }, { fieldManager: 'test' });
  expect(await hosted.find(ServiceAccount, { namespace: 'default', name: 'default' })).toBeDefined();
  await hosted.delete(ConfigMap, written);
  await hosted.connection.close();

  const { items: events } = await bench.client.list<EventObject>(Event, { namespace: bench.namespace });
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
  expect(bench.operator.requests.filter(({ code }) => code === 401 || code === 403)).toEqual([]);
});

test('it is stable: another complete reconcile writes nothing but the status', async () => {
  const before = await bench.everything();
  const requests = bench.operator.requests.length;
  // Only the status shows that a second reconcile has run.
  await bench.untilSeen('c1');
  expect(await bench.everything()).toEqual(before);
  const sent = () => {
    const others = bench.operator.requests.slice(requests).filter(({ verb }) => verb !== 'watch');
    return others.map(({ verb, resource }) => `${verb} ${resource}`);
  };
  // The status can be read before its writer has the answer.
  await until('the answer to a write', () => sent().length > 0);
  expect(sent()).toEqual(['apply hostedcontrolplanes']);
  await bench.undo();
});
