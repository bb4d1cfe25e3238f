import { expect } from 'vitest';
import { dayMs, type Outcome, Simulation } from './simulation.ts';

/** Four months. */
export const longestOutageMs = 121 * dayMs;

const years = 10;

/** Runs ten years in which nobody requests anything, and prints the outcome. */
export async function tenYears(seed: number): Promise<Outcome> {
  const outcome = await new Simulation({ seed, years, longestOutageMs }).run();
  tell(`10 years, seed ${seed}`, outcome);
  return outcome;
}

/** Asserts what holds of ten years with any seed: no rotation and no restart that is not needed. */
export function expectNoNeedlessRestarts(outcome: Outcome): void {
  expect(outcome.daysWithoutOperator).toBeGreaterThan(365);
  for (const secret of ['c1-ca', 'c1-etcd', 'c1-proxy']) expect(rotationsOf(outcome, secret)).toBe(1);
  // Each of three members reads whom to trust at its start, when the next one is added and when the old one goes.
  expect(restartsOf(outcome, 'etcd')).toBe(3 * 2);
  // The konnectivity server reads its pair at its start, and that is renewed every half a year; beside that both
  // authorities that API servers read at their start change twice, and those pods may be new for another reason then.
  expect(restartsOf(outcome, 'api-server', 'c1-konnectivity-server')).toBeLessThanOrEqual(2 * (2 * years + 1));
  expect(restartsOf(outcome, 'api-server')).toBeLessThanOrEqual(2 * (2 * years + 1 + 2 * 2));
  // It publishes the cluster's authorities, which it reads at its start.
  expect(restartsOf(outcome, 'controller-manager')).toBe(2);
  expect(restartsOf(outcome, 'scheduler')).toBe(0);
}

/** How many pods were replaced for this, by whatever else beside it. */
function restartsOf({ restarts }: Outcome, component: string, cause?: string): number {
  const rows = [...restarts].filter(([row]) => row.startsWith(`${component}: `) && row.includes(cause ?? ''));
  return rows.reduce((sum, [, count]) => sum + count, 0);
}

/** Successors that were made, each once: rotations. */
export const rotationsOf = ({ rotations }: Outcome, secret: string) => rotations.get(secret) ?? 0;

/** Prints what came of a simulation. */
export function tell(what: string, outcome: Outcome): void {
  const { passes, proofs, daysWithoutOperator, restarts, rotations } = outcome;
  const list = (counts: ReadonlyMap<string, number>) =>
    [...counts].toSorted(([a], [b]) => a.localeCompare(b, 'en')).map(([row, count]) => `  ${count} ${row}`);
  console.log(
    [
      `${what}: ${passes} passes, ${proofs} proofs, ${daysWithoutOperator} days without an operator`,
      'pods replaced:',
      ...list(restarts),
      'rotations:',
      ...list(rotations),
    ].join('\n'),
  );
}
