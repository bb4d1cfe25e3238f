import { setTimeout } from 'node:timers/promises';
import { HostedControlPlaneSpec } from '../../../constructs/api/hosted-control-plane.ts';
import { kubernetesVersion, Workbench } from '../../support/workbench.ts';
import { kubeconfigPath } from '../testbed/instance.ts';
import { benchNamespace, type BenchTestbed } from './bench-testbed.ts';
import type { Shape } from './extent.ts';
import { type Figure, median, seconds } from './figure.ts';
import { measureFloor, prepareFloor, removeFloor } from './floor.ts';
import { waitFigures } from './pod-milestones.ts';
import { measureDeletion, measureProvisioning, type Provisioning } from './product.ts';
import { difference, requestCounts } from './requests.ts';

/** From the apply to a working control plane, compared with the same objects applied at once without any operator. */
export async function measureControlPlanes(testbed: BenchTestbed): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const shape of testbed.extent.shapes) figures.push(...(await measureShape(testbed, shape)));
  return figures;
}

async function measureShape(
  { instance, client, extent: { runs }, report }: BenchTestbed,
  { name, replicas, members, goals }: Shape,
): Promise<Figure[]> {
  const parsed = HostedControlPlaneSpec.parse({
    version: kubernetesVersion,
    replicas,
    etcd: { replicas: members },
    exposure: { loadBalancer: {} },
  });
  const floors: number[] = [];
  const products: Provisioning[] = [];
  const deletions: number[] = [];
  const requests: number[] = [];
  for (let run = 1; run <= runs; run += 1) {
    const address = `172.30.${instance.index}.${250 - run}`;
    const floor = await prepareFloor(client, parsed, address);
    floors.push(await measureFloor(client, floor));
    await removeFloor(client);

    const room = await Workbench.open(kubeconfigPath(instance), benchNamespace);
    const before = await requestCounts(client);
    products.push(await measureProvisioning(room, `c${run}`, { ...parsed, exposure: { loadBalancer: {} } }));
    const { reads, writes } = difference(await requestCounts(client), before);
    requests.push(reads + writes);
    deletions.push(await measureDeletion(room, `c${run}`));
    await room.client.connection.close();
    report(
      `${name}, run ${run} of ${runs}: floor ${seconds(floors.at(-1))} s, product ${seconds(products.at(-1)?.ready)} s`,
    );
  }
  report(`${name}, time line of the last run:`);
  for (const { what, ms } of products.at(-1)?.timeLine ?? []) report(`  ${seconds(ms)} s  ${what}`);
  const ready = products.map((product) => product.ready);
  const ratios = ready.map((value, run) => value / (floors[run] ?? Number.NaN));
  return [
    { name: `${name}: ready / floor`, value: median(ratios), unit: 'ratio', goal: { atMost: 0.9 } },
    // Cluster API core sets the owner after two reconciles, a second apart; nothing may be created before.
    {
      name: `${name}: ready after the owner is named / floor`,
      value: median(products.map((product, run) => sinceOwned(product) / (floors[run] ?? Number.NaN))),
      unit: 'ratio',
      goal: { atMost: 0.72 },
    },
    ...waitFigures(
      name,
      products.map(({ milestones }) => milestones),
    ),
    { name: `${name}: kubeconfig works`, value: median(products.map(({ answers }) => answers)) / 1000, unit: 's' },
    { name: `${name}: controllers work`, value: median(products.map(({ usable }) => usable)) / 1000, unit: 's' },
    { name: `${name}: condition Ready`, value: median(products.map(conditionReady)) / 1000, unit: 's' },
    { name: `${name}: ready`, value: median(ready) / 1000, unit: 's' },
    { name: `${name}: floor`, value: median(floors) / 1000, unit: 's' },
    { name: `${name}: deleted`, value: median(deletions) / 1000, unit: 's', goal: { atMost: goals.deletedSeconds } },
    {
      name: `${name}: requests to provision one`,
      value: median(requests),
      unit: 'requests',
      goal: { atMost: goals.requests },
    },
  ];
}

/** What one control plane costs the management API while nothing happens. */
export async function measureRest({ instance, client, extent: { rest }, report }: BenchTestbed): Promise<Figure[]> {
  const room = await Workbench.open(kubeconfigPath(instance), benchNamespace);
  // what another part has left would be counted, too
  await room.deleteAll();
  await measureProvisioning(room, 'rest', rest.spec);
  report(`at rest for ${rest.ms / 1000} s`);
  await setTimeout(rest.settleMs);
  const before = await requestCounts(client);
  await setTimeout(rest.ms);
  const { reads, writes, election } = difference(await requestCounts(client), before);
  await room.client.connection.close();
  const perMinute = (count: number) => (count * 60_000) / rest.ms;
  const unit = 'requests/min';
  return [
    { name: 'at rest: writes per cluster and minute', value: perMinute(writes), unit, goal: { atMost: 0 } },
    { name: 'at rest: calls per cluster and minute', value: perMinute(reads + writes), unit, goal: { atMost: 1 } },
    { name: 'at rest: leader election of the operator', value: perMinute(election), unit },
  ];
}

function sinceOwned({ ready, milestones }: Provisioning): number {
  return ready - milestones.ownerNamed;
}

function conditionReady({ timeLine }: Provisioning): number {
  return timeLine.find(({ what }) => what === 'Ready')?.ms ?? Number.NaN;
}
