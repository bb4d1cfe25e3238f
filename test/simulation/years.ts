import { expect } from 'vitest';
import { dayMs, type Outcome, Simulation } from './simulation.ts';

/** Four months. */
export const longestOutageMs = 121 * dayMs;

const years = 10;

/** Runs ten years without any request, and prints the outcome. */
export async function tenYears(seed: number, { jumps = false } = {}): Promise<Outcome> {
  const outcome = await new Simulation({ seed, years, longestOutageMs, jumps }).run();
  print(`10 years, seed ${seed}${jumps ? `, ${outcome.jumps} jumps of the clock` : ''}`, outcome);
  return outcome;
}

/** Asserts what must be true for ten years with any seed: no unnecessary rotation and no unnecessary restart. */
export function expectNoNeedlessRestarts(outcome: Outcome): void {
  expect(outcome.daysWithoutOperator).toBeGreaterThan(365);
  for (const secret of ['c1-ca', 'c1-etcd', 'c1-proxy']) expect(rotationsOf(outcome, secret)).toBe(1);
  // Each of three members reads its trusted CAs at its start, when the next one is added and when the old one is removed.
  expect(restartsOf(outcome, 'etcd')).toBe(3 * 2);
  // The konnectivity server reads its pair at its start, and that is renewed every half a year; in addition both
  // CAs that API servers read at their start change twice, and those pods may be replaced for another reason then.
  expect(restartsOf(outcome, 'api-server', 'c1-konnectivity-server')).toBeLessThanOrEqual(2 * (2 * years + 1));
  expect(restartsOf(outcome, 'api-server')).toBeLessThanOrEqual(2 * (2 * years + 1 + 2 * 2));
  // It publishes the cluster CA, which it reads at its start.
  expect(restartsOf(outcome, 'controller-manager')).toBe(2);
  expect(restartsOf(outcome, 'scheduler')).toBe(0);
}

/** How many pods were replaced for this cause, alone or with others. */
function restartsOf({ restarts }: Outcome, component: string, cause?: string): number {
  const rows = [...restarts].filter(([row]) => row.startsWith(`${component}: `) && row.includes(cause ?? ''));
  return rows.reduce((sum, [, count]) => sum + count, 0);
}

/** The number of successors that were created: rotations. */
export const rotationsOf = ({ rotations }: Outcome, secret: string) => rotations.get(secret) ?? 0;

/** Prints the outcome of a simulation. */
export function print(what: string, outcome: Outcome): void {
  const { reconciles, proofs, daysWithoutOperator, restarts, rotations } = outcome;
  const list = (counts: ReadonlyMap<string, number>) =>
    [...counts].toSorted(([a], [b]) => a.localeCompare(b, 'en')).map(([row, count]) => `  ${count} ${row}`);
  console.log(
    [
      `${what}: ${reconciles} reconciles, ${proofs} proofs, ${daysWithoutOperator} days without an operator`,
      'pods replaced:',
      ...list(restarts),
      'rotations:',
      ...list(rotations),
    ].join('\n'),
  );
}
