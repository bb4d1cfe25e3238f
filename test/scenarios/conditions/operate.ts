import { setTimeout as pause } from 'node:timers/promises';
import type { Life } from '../../support/loop/life.ts';
import type { MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';

/** More rounds than any loop takes. */
const roundLimit = 300;

export interface OperateOptions {
  readonly life: Life;
  /** Time between two reconciles. By default half a second. */
  readonly stepMs?: number;
}

/**
 * Runs an operator until a condition holds and nothing is left to do. Requests to a bucket take real time, and waits for
 * programs take that of the cluster.
 * @returns what its reconciles have thrown
 */
export async function operate(
  cluster: MemoryCluster,
  holds: () => boolean,
  { life, stepMs = 500 }: OperateOptions,
): Promise<readonly unknown[]> {
  const operator = await OperatorProcess.start(cluster, life);
  for (let round = 0; ; round++) {
    await operator.untilObserved();
    await operator.reconcile();
    cluster.settle();
    await operator.untilObserved();
    if (holds()) break;
    if (round === roundLimit)
      throw new Error([...problemsIn(cluster), ...operator.errors.slice(-3).map(String)].join('\n'));
    await pause(0);
    await cluster.clock.advance(stepMs);
  }
  await operator.untilSettled();
  await operator.stop();
  return operator.errors;
}

/** The conditions that do not hold. */
export function problemsIn({ conditions }: Pick<MemoryCluster, 'conditions'>): string[] {
  return conditions
    .filter(({ status }) => status !== 'True')
    .map(({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`);
}

/** Whether a condition of the HostedControlPlane is true in the generation that is wanted. */
export function isTrue(cluster: MemoryCluster, type = 'Ready'): boolean {
  const { generation } = cluster.hostedControlPlane.metadata;
  const found = cluster.conditions.find((condition) => condition.type === type);
  return found?.status === 'True' && found.observedGeneration === generation;
}
