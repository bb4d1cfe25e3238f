import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { comparableObjects } from '../../support/loop/comparable-objects.ts';
import { Life } from '../../support/loop/life.ts';
import { everyAnswerOnce, type LostAnswers, oneAnswer } from '../../support/loop/lost-answers.ts';
import type { MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { verifyAtOnce } from '../../support/loop/verified-at-once.ts';
import { ObjectStoreServer } from '../../support/object-store-server.ts';
import { type Loop, loops } from './loops.ts';
import { plain, quota, restricted, type Surroundings } from './surroundings.ts';

let bucket: ObjectStoreServer;
beforeAll(async () => {
  bucket = await ObjectStoreServer.start();
  verifyAtOnce(bucket);
});
afterAll(() => bucket.stop());

describe.each<Surroundings>([restricted, quota])('in $name', (surroundings) => {
  it.each(loops)('$name comes to its end', { timeout: 120_000 }, async ({ begin, run, check }) => {
    const start = await begin(surroundings, bucket);
    const { cluster, errors } = await run(start, new Life(), surroundings.prepare);
    check(cluster);
    expect(errors).toEqual([]);
  });
});

/** Runs a loop whose writes are stored, but not all answered. */
async function runLosing({ run, check }: Loop, start: MemoryCluster, answers: LostAnswers, arrive?: Arrive) {
  const { before, after } = answers;
  const { cluster, errors } = await run(start, new Life({ before, after }), arrive);
  check(cluster);
  const others = errors.filter((error) => !String(error).includes('the answer is lost'));
  expect(others, `after the loss of the answer to ${answers.lost.join(', ')}`).toEqual([]);
  return cluster;
}
type Arrive = Parameters<Loop['run']>[2];

describe('a lost answer after a write that was stored', () => {
  it.each(loops)('leads $name to the same end, at every write', { timeout: 120_000 }, async (loop) => {
    let where = await loop.begin(plain, bucket);
    const answers = everyAnswerOnce(() => where);
    await runLosing(loop, where, answers, async (to) => (where = to));
    expect(answers.lost.length).toBeGreaterThan(5);
  });

  it.each(loops.filter(({ isShort }) => isShort))(
    'leads $name to the same objects, at each single write',
    { timeout: 240_000 },
    async (loop) => {
      const start = await loop.begin(plain, bucket);
      const whole = comparableObjects((await loop.run(start.copy(), new Life())).cluster);
      let index = 0;
      for (let isOver = false; !isOver; index++) {
        const cluster = start.copy();
        const answers = oneAnswer(() => cluster, index);
        await runLosing(loop, cluster, answers);
        expect(comparableObjects(cluster), `after the loss of the answer to ${answers.lost.join()}`).toEqual(whole);
        isOver = answers.lost.length === 0;
      }
      expect(index).toBeGreaterThan(10);
    },
  );
});
