/**
 * Tests in tiers. `npm test` runs what every push proves: the pure tests, then those on real binaries in two lanes side by side: those
 * that use the whole host or every namespace of a testbed, one file after the other, and the others, some files at a time on
 * one testbed. `npm run test:full` runs test/full with them. With other arguments it is vitest with these: `npm test -- PATH`.
 */
import { testFiles, type Tier, tierOf } from './run/files.ts';
import { runVitest } from './run/lane.ts';
import { planOf } from './run/plan.ts';
import { runPlan } from './run/whole-run.ts';

const given = process.argv.slice(2);
process.exitCode = await (given.length === 0
  ? runTiers('push')
  : given.join() === '--full'
    ? runTiers('push', 'full')
    : runVitest(given));

async function runTiers(...tiers: readonly Tier[]): Promise<number> {
  const all = testFiles();
  const { code } = await runPlan(
    planOf(
      all.filter((file) => tiers.includes(tierOf(file))),
      all,
    ),
  );
  return code;
}
