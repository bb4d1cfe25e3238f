import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { Event } from '../../../constructs/api/resources.ts';
import { installFault, plantFault } from '../../support/hostile-tenant/faulty-image.ts';
import { Neighbour } from '../../support/hostile-tenant/neighbour.ts';
import { loadStandIn, standInImage } from '../../support/hostile-tenant/stand-in-image.ts';
import { TenantNamespace } from '../../support/hostile-tenant/tenant-namespace.ts';
import { WatchedOperator } from '../../support/hostile-tenant/watched-operator.ts';
import type { WarningEvent } from '../../support/pod-states.ts';
import { installProvider, providerNamespace, removeProvider } from '../../support/provider.ts';
import { until } from '../../support/until.ts';
import { single, Workbench } from '../../support/workbench.ts';
import { instanceFrom } from '../../tools/testbed/instance.ts';

// The operator as its installation runs it, but for an image with a fault. What the program does with it: test/full/reconciler/quarantine.
const namespace = 'quarantined';
const cluster = 'faulty';
const instance = instanceFrom(process.env, inject('testbed'));
const report = (line: string) => console.log(line);

let home: Workbench;
let neighbour: Neighbour;
let tenant: TenantNamespace;
let operator: WatchedOperator;

beforeAll(async () => {
  // What a run that was killed has left goes while no operator adds its finalizers again.
  await removeProvider(instance);
  home = await Workbench.open(inject('kubeconfig'), 'neighbour');
  tenant = await TenantNamespace.open(inject('kubeconfig'), namespace);
  await installProvider(instance, report);
  await loadStandIn(instance);
  await installFault(instance, cluster);
  neighbour = await Neighbour.settle(instance, home);
  await tenant.limit();
  operator = new WatchedOperator(neighbour.bench.client);
  const apiServer = { image: standInImage, env: [{ name: 'ANSWERS', value: 'nothing' }] };
  await tenant.order(cluster, { ...single, deployment: { apiServer } });
  await tenant.bench.untilCondition(cluster, 'EtcdClusterReady', { status: 'True' });
});
afterAll(async () => {
  const failed: unknown[] = [];
  // The first ends first, because it would add its finalizers again.
  const ends = [() => removeProvider(instance), () => tenant?.close(), () => neighbour?.stop(), () => home?.close()];
  for (const end of ends) await end()?.catch((error: unknown) => failed.push(error));
  if (failed.length > 0) throw new AggregateError(failed, 'something is left behind');
});

const restarts = async () => Object.values(await operator.restarts()).toSorted((one, other) => one - other);

test('work for a control plane that ends the operator ends none of its pods more than twice, and the others are attended to', async () => {
  expect(await restarts()).toEqual([0, 0]);
  await plantFault(instance, operator, 'loops');
  await tenant.change(cluster, { spec: { etcd: { replicas: 3 } } });
  const quarantined = { status: 'True', reason: 'HostedWorkApart', message: /has ended repeatedly/ } as const;
  report((await tenant.bench.untilCondition(cluster, 'Quarantined', quarantined, 300_000)).message);
  const warned = async () => {
    const { items } = await tenant.bench.client.list<WarningEvent>(Event, { namespace });
    return items.some(({ type, note, regarding }) => {
      return type === 'Warning' && regarding?.name === `${cluster}-cp` && note?.includes('has ended repeatedly');
    });
  };
  await until('a Warning', warned);

  const ends = await restarts();
  report(`restarts of the two pods: ${ends.join(' and ')}`);
  // Each pod has notes of its own, and they may lead by turns.
  expect(Math.max(...ends)).toBe(2);
  // It has ended itself: a kubelet waits for six failed probes.
  const { items: said } = await tenant.bench.client.list<WarningEvent>(Event, { namespace: providerNamespace });
  expect(said.filter(({ note }) => note?.includes('failed liveness probe'))).toEqual([]);

  const change = { deployment: { apiServer: { args: { 'event-ttl': '2h' } } } };
  const before = neighbour.backups;
  await neighbour.bench.patch(neighbour.cluster, { spec: change });
  await neighbour.bench.untilRolledOut(neighbour.cluster);
  await until('the next backup', async () => neighbour.backups > before, 120_000);
  expect(await restarts()).toEqual(ends);
  for (const { limitBytes, mostBytes } of await operator.memory()) expect(mostBytes).toBeLessThan(limitBytes);

  await plantFault(instance, operator);
  await tenant.bench.untilCondition(cluster, 'Quarantined', { status: 'False' }, 180_000);
  expect(await restarts()).toEqual(ends);
  expect(neighbour.faults).toEqual([]);
});
