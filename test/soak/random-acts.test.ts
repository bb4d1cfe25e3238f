import { expect, test } from 'vitest';
import { completeFleet } from '../support/loop/memory-fleet.ts';
import { smallestSpec } from '../support/loop/scenario.ts';
import { controlPlanes, expectSequences } from '../support/random-acts/expect-sequences.ts';

/** Other sequences than those of `npm run test:full`, for an hour and a half. */
const sequences = { first: 1000, count: 10_000 };

test('10,000 random sequences of what users do by mistake lose no data, are told, and leave all Ready', async () => {
  const complete = await completeFleet(controlPlanes, smallestSpec);
  await expect(expectSequences(complete, sequences)).resolves.toBeUndefined();
}, 14_400_000);
