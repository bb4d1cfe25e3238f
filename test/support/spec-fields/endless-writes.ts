import { expect } from 'vitest';
import { OperatorProcess } from '../loop/operator-process.ts';
import { expectNoWrites, orderedCluster } from '../loop/scenario.ts';

/** After so many reconciles nothing is left to do but to wait for a person. */
const reconciles = 12;

/** @throws if a reconcile of a new control plane with this spec fails, or if the operator never stops writing */
export async function expectNoEndlessWrites(spec: object): Promise<void> {
  const managementCluster = await orderedCluster(spec);
  const operator = await OperatorProcess.start(managementCluster);
  await operator.untilObserved();
  for (let count = 0; count < reconciles; count++) {
    await operator.reconcile();
    managementCluster.settle();
    await operator.untilObserved();
  }
  expect(operator.errors).toEqual([]);
  await expectNoWrites(managementCluster, operator);
  await operator.stop();
}
