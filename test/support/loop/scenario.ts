import { expect } from 'vitest';
import { ManualClock } from '../manual-clock.ts';
import { now } from '../scope.ts';
import { Life } from './life.ts';
import { comparableObjects } from './comparable-objects.ts';
import { OperatorProcess } from './operator-process.ts';
import { MemoryCluster } from './memory-cluster.ts';

/** The spec of the smallest control plane: one replica of everything, and no add-ons. */
export const smallestSpec = {
  replicas: 1,
  etcd: { replicas: 1 },
  coredns: { disabled: true },
  kubeProxy: { disabled: true },
  konnectivityClient: { disabled: true },
  networkPolicy: 'Disabled',
};

/** A cluster in which the sample control plane is requested, and no operator has run yet. @param spec fields that differ */
export async function orderedCluster(spec: object = {}): Promise<MemoryCluster> {
  const managementCluster = new MemoryCluster(new ManualClock(now.getTime()));
  await managementCluster.install();
  await managementCluster.order(spec);
  return managementCluster;
}

/** Runs a new operator process until nothing is left to do, and stops it. */
export async function settleBy(managementCluster: MemoryCluster, life?: Life): Promise<OperatorProcess> {
  const operator = await OperatorProcess.start(managementCluster, life);
  await operator.untilSettled();
  await operator.stop();
  return operator;
}

/** Lets a new operator process do everything it has to do. @throws if it then writes more in another reconcile */
export async function settleForGood(managementCluster: MemoryCluster): Promise<void> {
  const operator = await OperatorProcess.start(managementCluster);
  await operator.untilSettled();
  await expectNoWrites(managementCluster, operator);
  await operator.stop();
}

/** A cluster in which the sample control plane runs, and no operator does. */
export async function completeCluster(spec: object = {}): Promise<MemoryCluster> {
  const managementCluster = await orderedCluster(spec);
  await settleBy(managementCluster);
  return managementCluster;
}

/**
 * The states that an operator leaves when it crashes, for every moment at which that is possible: after each of its writes,
 * and before each of its requests if anything has changed since.
 * @param work what the operator does meanwhile; by default all that is left to do
 */
export async function everyCrash(managementCluster: MemoryCluster, work: Work = settleBy): Promise<Crash[]> {
  const crashes: Crash[] = [];
  let seen = managementCluster.version;
  const note = (moment: string): void => {
    if (managementCluster.version === seen) return;
    seen = managementCluster.version;
    crashes.push({ moment, cluster: managementCluster.copy() });
  };
  const before = (action: string): void => note(`before ${action}`);
  const after = (action: string): void => note(`after ${action}`);
  await work(managementCluster, new Life({ before, after }));
  return crashes;
}

/** What an operator process does in its life. */
export type Work = (managementCluster: MemoryCluster, life: Life) => Promise<unknown>;

/** Some rounds of a new operator process, where it never settles because it waits for a user. */
export const someRounds: Work = async (managementCluster, life) => {
  const operator = await OperatorProcess.start(managementCluster, life);
  await operator.rounds(5);
  await operator.stop();
};

/** A cluster without an operator, and the moment at which the last one crashed in it. */
export interface Crash {
  readonly moment: string;
  readonly cluster: MemoryCluster;
}

/**
 * Runs a new operator after each crash until nothing changes any more. @throws unless the result is that of an
 * uninterrupted run
 */
export async function expectSameAfter(crashes: readonly Crash[], end: MemoryCluster): Promise<void> {
  const whole = comparableObjects(end);
  for (const { moment, cluster: managementCluster } of crashes) {
    const operator = await OperatorProcess.start(managementCluster);
    await operator.untilSettled();
    expect(operator.errors, `the operator that crashed ${moment}`).toEqual([]);
    expect(comparableObjects(managementCluster), `the operator that crashed ${moment}`).toEqual(whole);
    await operator.stop();
  }
}

/** @throws if another reconcile writes anything */
export async function expectNoWrites(managementCluster: MemoryCluster, operator: OperatorProcess): Promise<void> {
  const { length } = managementCluster.management.writes;
  const hosted = managementCluster.hosted.writes.length;
  await operator.untilObserved();
  await operator.reconcile();
  expect(managementCluster.management.writes.slice(length)).toEqual([]);
  expect(managementCluster.hosted.writes.slice(hosted)).toEqual([]);
}
