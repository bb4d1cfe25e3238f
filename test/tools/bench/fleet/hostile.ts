import { setTimeout } from 'node:timers/promises';
import { until } from '../../../support/until.ts';
import type { Figure } from '../figure.ts';
import { FleetBackups, periodMs } from './fleet-backups.ts';
import { clusterName, namespaceName } from './fleet-clusters.ts';
import { hostileFigures, type HostileMeasurement } from './hostile-figures.ts';
import { KeptOperator } from './kept-operator.ts';
import { LeaseWatch } from './lease-watch.ts';
import { bringUp, type Fleet } from './measure.ts';
import { NewestBackups } from './newest-backups.ts';

/** How often the tenants of hostile clusters ask for a backup besides the schedule. */
const requestMs = 15_000;
/** The share of the hostile clusters whose API server is none. */
const hostileApis = 0.75;

/**
 * Clusters whose API servers, etcds, backup stores and token services answer with the worst that a server can send, beside as many good ones
 * that have backups each minute: what the operator takes, and what the good ones see of it. The first half of the clusters is hostile.
 */
export async function measureHostile(fleet: Fleet): Promise<Figure[]> {
  const { job, server, clusters, startOperator, report } = fleet;
  const half = Math.floor(job.clusters / 2);
  const good = Array.from({ length: job.clusters - half }, (_, index) => half + index);
  const lease = new LeaseWatch(server.client);
  await lease.start();
  const backups = await FleetBackups.start(fleet);
  const operator = await KeptOperator.start(startOperator);
  try {
    await bringUp(fleet, job.clusters);
    const newest = new NewestBackups(clusters, good);
    await backups.begin(good);
    await until('each good control plane to have a backup', async () => newest.isComplete, 600_000);
    await setTimeout(job.settleMs);
    const before = await operator.memory();
    operator.forget();
    const quiet = await latencies(fleet, good, job.schedules.quiet);
    const quietAnswerMs = operator.longestAnswerMs;
    if (operator.ends > 0) report(`without hostile clusters the operator has ended ${operator.ends} times`);

    operator.forget();
    lease.forget();
    newest.start();
    const from = Date.now();
    const beside = await besideHostile(fleet, backups, { half, good });
    const backupFigures = {
      oldestBackupMs: newest.stop(),
      missedBackups: await backups.missed(good, from, beside.end - job.settleMs),
    };
    // What has begun goes on.
    await setTimeout(job.settleMs);
    const measured: HostileMeasurement = {
      ...backupFigures,
      good: good.length,
      hostile: half,
      quiet,
      beside: beside.latencies,
      answers: beside.answers,
      changes: beside.changes,
      memory: { before: before.now, peak: (await operator.memory()).peak },
      ends: operator.ends,
      longestAnswerMs: { quiet: quietAnswerMs, beside: operator.longestAnswerMs },
      lease: lease.seen,
    };
    return hostileFigures(measured);
  } finally {
    await operator.stop();
    await lease.stop();
    await backups.stop();
  }
}

/** What the good ones see while the first half of the clusters is hostile, whose tenants ask for backups again and again. */
async function besideHostile(
  fleet: Fleet,
  backups: FleetBackups,
  { half, good }: { readonly half: number; readonly good: readonly number[] },
) {
  const { job, world, clusters, report } = fleet;
  const hostile = Array.from({ length: half }, (_, number) => ({
    number,
    namespace: namespaceName(number),
    cluster: clusterName(number),
    hasHostileApi: number < Math.ceil(half * hostileApis),
    hasTokenService: number >= half / 2,
    worksUntil: (['never', 'keys', 'never', 'snapshot'] as const)[number % 4] ?? 'never',
  }));
  const numbers = hostile.map(({ number }) => number);
  await world.poison(hostile);
  await world.harass(hostile.filter(({ hasHostileApi }) => !hasHostileApi).map(({ number }) => number));
  await backups.beginHostile(
    hostile.map(({ number, hasTokenService, worksUntil }) => ({
      number,
      hasTokenService,
      isPatient: worksUntil !== 'never',
    })),
  );
  let requests = 0;
  const asking = setInterval(() => {
    requests += 1;
    clusters.requestBackups(numbers, String(requests)).catch((error: unknown) => report(String(error)));
  }, requestMs);
  try {
    const times = await latencies(fleet, good, job.schedules.hostile);
    const end = Date.now();
    return { latencies: times, end, changes: await world.leaveInPeace(), answers: await world.heal() };
  } finally {
    clearInterval(asking);
  }
}

/**
 * Milliseconds from a change of a spec until the status has observed it, one cluster after the other, until so many times of the schedule of
 * backups have passed.
 */
async function latencies({ job, clusters }: Fleet, numbers: readonly number[], schedules: number): Promise<number[]> {
  // The first one does not come at once: what is asked for takes effect before.
  const last = (Math.floor((Date.now() + 2 * job.settleMs) / periodMs) + schedules) * periodMs;
  const end = schedules === 0 ? 0 : last + job.settleMs;
  const times: number[] = [];
  for (let count = 0; count < job.reconciles || Date.now() < end; count += 1) {
    times.push(await clusters.measureReconcile(numbers[count % numbers.length] ?? 0));
  }
  return times;
}
