import { expect } from 'vitest';
import { ManualClock } from '../manual-clock.ts';
import { now } from '../scope.ts';
import { Life } from './life.ts';
import { portraitOf } from './portrait.ts';
import { OperatorProcess } from './operator-process.ts';
import { SurroundingWorld } from './surrounding-world.ts';

/** A world in which the sample control plane is ordered, and nobody has looked yet. @param spec fields that differ */
export async function orderedWorld(spec: object = {}): Promise<SurroundingWorld> {
  const world = new SurroundingWorld(new ManualClock(now.getTime()));
  await world.install();
  await world.order(spec);
  return world;
}

/** Lets a new process of the operator go on until nothing is left to do, and ends it. */
export async function settleBy(world: SurroundingWorld, life?: Life): Promise<OperatorProcess> {
  const operator = await OperatorProcess.start(world, life);
  await operator.untilSettled();
  await operator.stop();
  return operator;
}

/** A world in which the sample control plane runs, and no operator does. */
export async function completeWorld(spec: object = {}): Promise<SurroundingWorld> {
  const world = await orderedWorld(spec);
  await settleBy(world);
  return world;
}

/**
 * What an operator leaves behind that dies on the way, for every moment at which it can: after each of its writes, and
 * before each of its requests, where the world is not as it was before. The given world is settled afterwards.
 */
export async function deathsOnTheWay(world: SurroundingWorld): Promise<Death[]> {
  const deaths: Death[] = [];
  let seen = world.version;
  const note = (moment: string): void => {
    if (world.version === seen) return;
    seen = world.version;
    deaths.push({ moment, world: world.copy() });
  };
  const before = (action: string): void => note(`before ${action}`);
  const after = (action: string): void => note(`after ${action}`);
  await settleBy(world, new Life({ before, after }));
  return deaths;
}

/** A world without an operator, and when the last one died in it. */
export interface Death {
  readonly moment: string;
  readonly world: SurroundingWorld;
}

/** Lets a new operator go on after each death, until a pass writes nothing. @throws unless that comes to the same */
export async function expectSameAfter(deaths: readonly Death[], end: SurroundingWorld): Promise<void> {
  const whole = portraitOf(end);
  for (const { moment, world } of deaths) {
    const operator = await OperatorProcess.start(world);
    await operator.untilSettled();
    expect(operator.errors, `the operator that died ${moment}`).toEqual([]);
    expect(portraitOf(world), `the operator that died ${moment}`).toEqual(whole);
    await operator.stop();
  }
}

/** @throws when an operator writes anything in another pass */
export async function expectRest(world: SurroundingWorld, operator: OperatorProcess): Promise<void> {
  const { length } = world.management.writes;
  const hosted = world.hosted.writes.length;
  await operator.heard();
  await operator.pass();
  expect(world.management.writes.slice(length)).toEqual([]);
  expect(world.hosted.writes.slice(hosted)).toEqual([]);
}
