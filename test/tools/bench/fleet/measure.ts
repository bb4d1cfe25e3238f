import { setTimeout } from 'node:timers/promises';
import type { ApiServer } from '../../../support/api-server.ts';
import type { ShippedRights } from '../../../support/shipped-rights.ts';
import { type Figure, percentile } from '../figure.ts';
import type { FleetClusters } from './fleet-clusters.ts';
import type { FleetJob } from './job.ts';
import type { OperatorProcess, OperatorRequests } from './operator-process.ts';
import { measureOutages } from './outages.ts';
import type { World } from './world.ts';

/** What is measured, and with what. */
export interface Fleet {
  readonly job: FleetJob;
  readonly server: ApiServer;
  readonly rights: Pick<ShippedRights, 'grantBackupIdentity'>;
  readonly world: Omit<World, 'stop'>;
  readonly clusters: FleetClusters;
  readonly startOperator: () => Promise<OperatorProcess>;
  readonly report: (line: string) => void;
}

/** Only ends what hangs. */
const limitMs = 3_600_000;
/** A new control plane has no pods, no certificates and no hosted objects yet: it is followed until it has settled. */
const few = 2;
const mebibyte = 1024 * 1024;
const memoryGoals = { few: { atMost: 110 }, all: { atMost: 512 } };
const convergenceGoal = { atMost: 120 };
/** The cluster whose users change its objects without end. */
const hostile = 0;

/** Everything that is measured of a fleet, in order: each step leaves all clusters converged. */
export async function measureFleetOf(fleet: Fleet): Promise<Figure[]> {
  const { job, clusters, startOperator, report } = fleet;
  let operator = await startOperator();
  const figures: Figure[] = [];
  const add = (...measured: Figure[]): void => {
    for (const { name, value, unit } of measured) report(`${name}: ${value.toFixed(2)} ${unit}`);
    figures.push(...measured);
  };
  try {
    add(await memoryOf(operator, 'no cluster'));
    await bringUp(fleet, Math.min(few, job.clusters));
    await setTimeout(job.settleMs);
    add({ ...(await memoryOf(operator, `${few} clusters`)), goal: memoryGoals.few });
    const processor = await operator.processorSeconds();
    let tenthMs = 0;
    const ms = await bringUp(fleet, job.clusters, (at) => (tenthMs = at));
    const used = ((await operator.processorSeconds()) - processor) / Math.max(1, job.clusters - few);
    add(
      { name: `fleet: a tenth of ${job.clusters} clusters brought up`, value: tenthMs / 1000, unit: 's' },
      { name: `fleet: all of ${job.clusters} clusters brought up`, value: ms / 1000, unit: 's' },
      { name: 'fleet: processor time of the operator to bring up one', value: used, unit: 's' },
    );
    await setTimeout(job.settleMs);
    add(...(await measureRest(fleet, operator)));

    await operator.stop();
    await clusters.changeAll(touched('restart'));
    const restarted = performance.now();
    operator = await startOperator();
    const start = await clusters.untilConverged('a restart of the operator', limitMs, restarted);
    add(convergence('the operator was restarted', start));
    add({ ...(await memoryOf(operator, `${job.clusters} clusters, after a restart`)), goal: memoryGoals.all });

    add(convergence('one spec change in each', await changeAll(fleet)));
    add(...(await measureOutages({ ...fleet, operator })));
    await setTimeout(job.settleMs);
    add(...(await measureNeighbours(fleet)));
    const { peak } = await operator.memory();
    add({ name: 'fleet: memory of the operator at most', value: peak / mebibyte, unit: 'MiB' });
    return figures;
  } finally {
    await operator.stop();
  }
}

/** What outages of the management API server do to a fleet. */
export async function measureOutagesOf(fleet: Fleet): Promise<Figure[]> {
  const operator = await fleet.startOperator();
  try {
    await bringUp(fleet, fleet.job.clusters);
    await setTimeout(fleet.job.settleMs);
    return await measureOutages({ ...fleet, operator });
  } finally {
    await operator.stop();
  }
}

/** Orders so many clusters, and waits for all; milliseconds. */
export async function bringUp(
  { clusters, report }: Fleet,
  count: number,
  onTenth?: (ms: number) => void,
): Promise<number> {
  const start = performance.now();
  await clusters.order(count);
  report(`${count} clusters are ordered after ${Math.round((performance.now() - start) / 1000)} s`);
  return clusters.untilConverged('bring-up', limitMs, start, onTenth);
}

/** Changes every spec, so that a Deployment of each changes, and waits for all. */
async function changeAll({ clusters }: Fleet): Promise<number> {
  const start = performance.now();
  await clusters.changeAll({ deployment: { scheduler: { args: { profiling: 'true' } } } });
  return clusters.untilConverged('change', limitMs, start);
}

async function measureRest({ job }: Fleet, operator: OperatorProcess): Promise<Figure[]> {
  const before = await operator.requests();
  const processor = await operator.processorSeconds();
  const start = performance.now();
  await setTimeout(job.restMs);
  const minutes = (performance.now() - start) / 60_000;
  const after = await operator.requests();
  const used = (await operator.processorSeconds()) - processor;
  const scrape = await operator.scrape();
  const perMinute = (kind: keyof OperatorRequests) => (after[kind] - before[kind]) / job.clusters / minutes;
  const unit = 'requests/min';
  const name = (what: string) => `fleet at rest: ${what}`;
  return [
    { ...(await memoryOf(operator, `${job.clusters} clusters`)), goal: memoryGoals.all },
    { name: name('processor'), value: (used / 60 / minutes) * 100, unit: '% of a core' },
    { name: name('writes per cluster'), value: perMinute('writes'), unit, goal: { atMost: 0 } },
    {
      name: name('calls per cluster'),
      value: perMinute('writes') + perMinute('reads'),
      unit,
      goal: { atMost: 1 },
    },
    { name: name('calls to each hosted cluster'), value: perMinute('hosted'), unit },
    { name: name('one scrape of the metrics'), value: scrape.ms, unit: 'ms', goal: { atMost: 100 } },
    { name: name('size of its answer'), value: scrape.bytes / mebibyte, unit: 'MiB' },
  ];
}

/** Reconciles of the others, without and with a cluster whose users change a hundred objects a second. */
async function measureNeighbours(fleet: Fleet): Promise<Figure[]> {
  const { job, world, report } = fleet;
  const others = Array.from({ length: job.clusters - 1 }, (_, index) => 1 + index);
  const quiet = await latencies(fleet, others);
  await world.harass([hostile]);
  await setTimeout(job.settleMs);
  const harassed = await latencies(fleet, others);
  const changes = await world.leaveInPeace();
  report(`the hostile cluster has changed ${changes} objects`);
  const p99 = (values: readonly number[]) => percentile(values, 0.99);
  return [
    { name: 'fleet: p99 of a reconcile', value: p99(quiet) / 1000, unit: 's' },
    { name: 'fleet: p99 of a reconcile beside a hostile cluster', value: p99(harassed) / 1000, unit: 's' },
    {
      name: 'fleet: p99 of a reconcile beside a hostile cluster / without it',
      value: p99(harassed) / p99(quiet),
      unit: 'ratio',
      goal: { atMost: 1.5 },
    },
  ];
}

/** Milliseconds from a change of a spec until the status has observed it, one cluster after the other. */
export async function latencies({ job, clusters }: Fleet, numbers: readonly number[]): Promise<number[]> {
  const times: number[] = [];
  for (let count = 0; count < job.reconciles; count += 1) {
    times.push(await clusters.measureReconcile(numbers[count % numbers.length] ?? 0));
  }
  return times;
}

async function memoryOf(operator: OperatorProcess, what: string): Promise<Figure> {
  const { now } = await operator.memory();
  return { name: `fleet: memory of the operator, ${what}`, value: now / mebibyte, unit: 'MiB' };
}

function convergence(what: string, ms: number): Figure {
  return { name: `fleet: all converged after ${what}`, value: ms / 1000, unit: 's', goal: convergenceGoal };
}

/** A field without effect. */
export function touched(text: string): object {
  return { machineTemplate: { metadata: { labels: { touched: text } } } };
}
