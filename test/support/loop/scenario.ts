import { expect } from 'vitest';
import { ManualClock } from '../manual-clock.ts';
import { now } from '../scope.ts';
import { Life } from './life.ts';
import { portraitOf } from './portrait.ts';
import { OperatorProcess } from './operator-process.ts';
import { MemoryCluster } from './memory-cluster.ts';

/** A world in which the sample control plane is ordered, and nobody has looked yet. @param spec fields that differ */
export async function orderedCluster(spec: object = {}): Promise<MemoryCluster> {
  const managementCluster = new MemoryCluster(new ManualClock(now.getTime()));
  await managementCluster.install();
  await managementCluster.order(spec);
  return managementCluster;
}

/** Lets a new process of the operator go on until nothing is left to do, and ends it. */
export async function settleBy(managementCluster: MemoryCluster, life?: Life): Promise<OperatorProcess> {
  const operator = await OperatorProcess.start(managementCluster, life);
  await operator.untilSettled();
  await operator.stop();
  return operator;
}

/** A world in which the sample control plane runs, and no operator does. */
export async function completeCluster(spec: object = {}): Promise<MemoryCluster> {
  const managementCluster = await orderedCluster(spec);
  await settleBy(managementCluster);
  return managementCluster;
}

/**
 * What an operator leaves behind that dies on the way, for every moment at which it can: after each of its writes, and
 * before each of its requests, where the world is not as it was before. The given world is settled afterwards.
 */
export async function deathsOnTheWay(managementCluster: MemoryCluster): Promise<Death[]> {
  const deaths: Death[] = [];
  let seen = managementCluster.version;
  const note = (moment: string): void => {
    if (managementCluster.version === seen) return;
    seen = managementCluster.version;
    deaths.push({ moment, cluster: managementCluster.copy() });
  };
  const before = (action: string): void => note(`before ${action}`);
  const after = (action: string): void => note(`after ${action}`);
  await settleBy(managementCluster, new Life({ before, after }));
  return deaths;
}

/** A world without an operator, and when the last one died in it. */
export interface Death {
  readonly moment: string;
  readonly cluster: MemoryCluster;
}

/** Lets a new operator go on after each death, until a pass writes nothing. @throws unless that comes to the same */
export async function expectSameAfter(deaths: readonly Death[], end: MemoryCluster): Promise<void> {
  const whole = portraitOf(end);
  for (const { moment, cluster: managementCluster } of deaths) {
    const operator = await OperatorProcess.start(managementCluster);
    await operator.untilSettled();
    expect(operator.errors, `the operator that died ${moment}`).toEqual([]);
    expect(portraitOf(managementCluster), `the operator that died ${moment}`).toEqual(whole);
    await operator.stop();
  }
}

/** @throws when an operator writes anything in another pass */
export async function expectRest(managementCluster: MemoryCluster, operator: OperatorProcess): Promise<void> {
  const { length } = managementCluster.management.writes;
  const hosted = managementCluster.hosted.writes.length;
  await operator.heard();
  await operator.pass();
  expect(managementCluster.management.writes.slice(length)).toEqual([]);
  expect(managementCluster.hosted.writes.slice(hosted)).toEqual([]);
}
