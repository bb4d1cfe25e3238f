import { setTimeout } from 'node:timers/promises';
import { type Figure, percentile } from '../figure.ts';
import { bringUp, type Fleet, latencies, touched } from './measure.ts';

const mebibyte = 1024 * 1024;

/**
 * Hosted API servers that answer with the worst that a server can send, beside as many good ones: what the operator takes, and what the
 * good ones see of it. The first half of the clusters is hostile.
 */
export async function measureHostile(fleet: Fleet): Promise<Figure[]> {
  const { job, world, clusters, startOperator, report } = fleet;
  const half = Math.floor(job.clusters / 2);
  const good = Array.from({ length: job.clusters - half }, (_, index) => half + index);
  const hostile = Array.from({ length: half }, (_, index) => index);
  const operator = await startOperator();
  try {
    await bringUp(fleet, job.clusters);
    await setTimeout(job.settleMs);
    const before = await operator.memory();
    const quiet = await latencies(fleet, good);
    await world.poison(hostile);
    await clusters.changeSome(hostile, touched('poisoned'));
    await setTimeout(job.settleMs);
    const beside = await latencies(fleet, good);
    const answers = await world.heal();
    const after = await operator.memory();
    report(`the hostile API servers have given ${answers} answers`);
    const p99 = (values: readonly number[]) => percentile(values, 0.99);
    return [
      { name: `hostile: answers of ${half} hostile API servers`, value: answers, unit: 'answers' },
      { name: 'hostile: memory of the operator before', value: before.now / mebibyte, unit: 'MiB' },
      {
        name: 'hostile: memory of the operator at most',
        value: after.peak / mebibyte,
        unit: 'MiB',
        goal: { atMost: 400 },
      },
      { name: 'hostile: ends of the operator', value: operator.isRunning ? 0 : 1, unit: 'ends', goal: { atMost: 0 } },
      { name: `hostile: p99 of a reconcile of ${good.length} good ones`, value: p99(quiet) / 1000, unit: 's' },
      { name: 'hostile: p99 of a reconcile beside the hostile ones', value: p99(beside) / 1000, unit: 's' },
      {
        name: 'hostile: p99 of a reconcile beside the hostile ones / without them',
        value: p99(beside) / p99(quiet),
        unit: 'ratio',
        goal: { atMost: 1.5 },
      },
    ];
  } finally {
    await operator.stop();
  }
}
