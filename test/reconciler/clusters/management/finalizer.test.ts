import { describe, expect, it } from 'vitest';
import { HostedControlPlane } from '../../../../constructs/api/resources.ts';
import { finalizer } from '../../../../constructs/api/group.ts';
import { Life } from '../../../support/loop/life.ts';
import { OperatorProcess } from '../../../support/loop/operator-process.ts';
import { completeCluster, orderedCluster } from '../../../support/loop/scenario.ts';
import { ourName, type MemoryCluster } from '../../../support/loop/memory-cluster.ts';

const another = 'example.org/another';

/** Adds another client's finalizer directly before the operator writes its own. */
function interference(managementCluster: MemoryCluster): Life {
  let isDone = false;
  return new Life({
    before: (action) => {
      if (isDone || action !== 'patch HostedControlPlane team/c1-x7k2p') return;
      isDone = true;
      const { finalizers = [] } = managementCluster.hostedControlPlane.metadata;
      const patch = { metadata: { finalizers: [...finalizers, another] } };
      managementCluster.management.mergePatch(HostedControlPlane, ourName, patch, { fieldManager: 'another' });
    },
  });
}

describe('a finalizer of another client', () => {
  it('is not lost when the operator adds its own at the same time', async () => {
    const managementCluster = await orderedCluster();
    const operator = await OperatorProcess.start(managementCluster, interference(managementCluster));
    await operator.reconcile();
    expect(managementCluster.hostedControlPlane.metadata.finalizers).toEqual([another]);
    await operator.untilSettled();
    expect(managementCluster.hostedControlPlane.metadata.finalizers).toEqual([another, finalizer]);
    await operator.stop();
  });

  it('is not lost when the operator removes its own at the same time, and then keeps the object alone', async () => {
    const managementCluster = await completeCluster();
    const operator = await OperatorProcess.start(managementCluster, interference(managementCluster));
    await managementCluster.user.delete(HostedControlPlane, ourName);
    await operator.untilSettled();
    expect(managementCluster.hostedControlPlane.metadata.finalizers).toEqual([another]);
    await operator.stop();
  });
});
