import { setTimeout } from 'node:timers/promises';
import type { ApiServer } from '../../../support/api-server.ts';
import type { ShippedRights } from '../../../support/shipped-rights.ts';
import { type Figure, mean, percentile } from '../figure.ts';
import type { FleetClusters } from './fleet-clusters.ts';
import type { FleetJob } from './job.ts';
import { type LoopStalls, stallFigures } from './loop-stalls.ts';
import type { OperatorProcess, OperatorRequests } from './operator-process.ts';
import { measureOutages } from './outages.ts';
import { Scrapes } from './scrapes.ts';
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
const memoryGoals = { few: { atMost: 100 }, all: { atMost: 900 } };
const scrapeGoal = { atMost: 100 };
const convergenceGoal = { atMost: 120 };
/** A look is a scrape, which costs the operator time. */
const lookMs = 2_000;
const quietLooks = 3;
/** The cluster whose users change its objects without end. */
const hostile = 0;

/** Everything that is measured of a fleet, in order: each step leaves all clusters converged. */
export async function measureFleetOf(fleet: Fleet): Promise<Figure[]> {
  const { job, clusters, startOperator, report } = fleet;
  let operator = await startOperator();
  const scrapes = new Scrapes(() => operator);
  const stalls: LoopStalls[] = [];
  const stop = async (): Promise<void> => {
    stalls.push(await operator.stalls());
    await operator.stop();
  };
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
    const etcdCalls = await fleet.world.etcdCalls();
    const start = performance.now();
    await bringUp(fleet, job.clusters);
    const times = clusters.readyTimes(few, start).map((ms) => ms / 1000);
    const calls = (await fleet.world.etcdCalls()) - etcdCalls;
    const used = ((await operator.processorSeconds()) - processor) / Math.max(1, job.clusters - few);
    add(
      { name: 'fleet: until a tenth is Ready', value: percentile(times, 0.1), unit: 's', goal: { atMost: 20 } },
      { name: 'fleet: until half are Ready', value: percentile(times, 0.5), unit: 's' },
      { name: 'fleet: until one is Ready, mean', value: mean(times), unit: 's' },
      { name: 'fleet: until the last is Ready', value: Math.max(...times), unit: 's', goal: { atMost: 300 } },
      { name: 'fleet: processor time of the operator to bring up one', value: used, unit: 's', goal: { atMost: 0.25 } },
      { name: 'fleet: calls to etcd to bring up one', value: calls / Math.max(1, times.length), unit: 'calls' },
    );
    await setTimeout(job.settleMs);
    add(...(await measureRest(fleet, operator)));

    await stop();
    const unchanged = performance.now();
    operator = await startOperator();
    add(...(await measureRestart(fleet, operator, unchanged)));

    await stop();
    await clusters.changeAll(touched('restart'));
    const restarted = performance.now();
    operator = await startOperator();
    const changed = await clusters.untilConverged('a restart of the operator', limitMs, restarted);
    add(convergence('the operator was restarted, and each spec changed meanwhile', changed));
    add({ ...(await memoryOf(operator, `${job.clusters} clusters, after a restart`)), goal: memoryGoals.all });

    add(convergence('one spec change in each', await changeAll(fleet)));
    add(...(await measureOutages({ ...fleet, operator })));
    await setTimeout(job.settleMs);
    add(...(await measureNeighbours(fleet)));
    const { peak } = await operator.memory();
    add({ name: 'fleet: memory of the operator at most', value: peak / mebibyte, unit: 'MiB' });
    stalls.push(await operator.stalls());
    add(...stallFigures(stalls));
    if (scrapes.times.length > 0)
      add({ name: 'fleet: longest of the scrapes each 30 s', value: Math.max(...scrapes.times), unit: 'ms' });
    return figures;
  } finally {
    await scrapes.stop();
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
export async function bringUp({ clusters, report }: Fleet, count: number): Promise<number> {
  const start = performance.now();
  await clusters.order(count);
  report(`${count} clusters are ordered after ${Math.round((performance.now() - start) / 1000)} s`);
  return clusters.untilConverged('bring-up', limitMs, start);
}

/** Changes every spec, so that a Deployment of each changes, and waits for all. */
async function changeAll({ clusters }: Fleet): Promise<number> {
  const start = performance.now();
  await clusters.changeAll({ deployment: { scheduler: { args: { profiling: 'true' } } } });
  return clusters.untilConverged('change', limitMs, start);
}

/** What a restart takes when nothing has changed: it is over when all were reconciled, and nothing waits or runs any more. */
async function measureRestart({ job }: Fleet, operator: OperatorProcess, start: number): Promise<Figure[]> {
  let last = await operator.requests();
  let [ms, still] = [performance.now() - start, 0];
  while (still < quietLooks) {
    if (performance.now() - start > limitMs)
      throw new Error(`${last.reconciles} reconciles after a restart, and ${last.waiting} wait`);
    await setTimeout(lookMs);
    const now = await operator.requests();
    const isQuiet = now.reconciles >= job.clusters && now.waiting === 0 && now.reconciles === last.reconciles;
    still = isQuiet ? still + 1 : 0;
    if (!isQuiet) ms = performance.now() - start;
    last = now;
  }
  const used = (await operator.processorSeconds()) / job.clusters;
  return [
    { name: 'fleet: a restart, until all were reconciled', value: ms / 1000, unit: 's', goal: { atMost: 90 } },
    { name: 'fleet: a restart, writes', value: last.writes, unit: 'requests', goal: { atMost: 0 } },
    {
      name: 'fleet: a restart, writes to hosted clusters',
      value: last.hostedWrites,
      unit: 'requests',
      goal: { atMost: 0 },
    },
    { name: 'fleet: a restart, processor time for one', value: used, unit: 's' },
  ];
}

async function measureRest({ job, world }: Fleet, operator: OperatorProcess): Promise<Figure[]> {
  const before = await operator.requests();
  const processor = await operator.processorSeconds();
  const calls = await world.etcdCalls();
  const start = performance.now();
  await setTimeout(job.restMs);
  const minutes = (performance.now() - start) / 60_000;
  const after = await operator.requests();
  const used = (await operator.processorSeconds()) - processor;
  const etcdCalls = (await world.etcdCalls()) - calls;
  const scrape = await operator.scrape();
  const perMinute = (kind: keyof OperatorRequests) => (after[kind] - before[kind]) / job.clusters / minutes;
  const unit = 'requests/min';
  const name = (what: string) => `fleet at rest: ${what}`;
  return [
    { ...(await memoryOf(operator, `${job.clusters} clusters`)), goal: memoryGoals.all },
    { name: name('processor'), value: (used / 60 / minutes) * 100, unit: '% of a core', goal: { atMost: 4 } },
    { name: name('writes per cluster'), value: perMinute('writes'), unit, goal: { atMost: 0 } },
    {
      name: name('calls per cluster'),
      value: perMinute('writes') + perMinute('reads'),
      unit,
      goal: { atMost: 1 },
    },
    { name: name('calls to each hosted cluster'), value: perMinute('hosted'), unit },
    { name: name('calls to each etcd'), value: etcdCalls / job.clusters / minutes, unit: 'calls/min' },
    { name: name('one scrape of the metrics'), value: scrape.ms, unit: 'ms', goal: scrapeGoal },
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
