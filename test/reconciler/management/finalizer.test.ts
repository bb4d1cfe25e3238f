import { describe, expect, it } from 'vitest';
import { HostedControlPlane } from '../../../constructs/api/resources.ts';
import { finalizer } from '../../../constructs/api/group.ts';
import { Life } from '../../support/loop/life.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { completeCluster, orderedCluster } from '../../support/loop/scenario.ts';
import { ourName, type MemoryCluster } from '../../support/loop/memory-cluster.ts';

const another = 'example.org/another';

/** Sets somebody else's finalizer at the very moment at which an operator is about to write its own. */
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

describe('a finalizer of somebody else', () => {
  it('is not lost when ours is added at the same time: its owner relies on it', async () => {
    const managementCluster = await orderedCluster();
    const operator = await OperatorProcess.start(managementCluster, interference(managementCluster));
    await operator.reconcile();
    expect(managementCluster.hostedControlPlane.metadata.finalizers).toEqual([another]);
    await operator.untilSettled();
    expect(managementCluster.hostedControlPlane.metadata.finalizers).toEqual([another, finalizer]);
    await operator.stop();
  });

  it('is not lost when ours is removed at the same time, and holds the object alone then', async () => {
    const managementCluster = await completeCluster();
    const operator = await OperatorProcess.start(managementCluster, interference(managementCluster));
    await managementCluster.user.delete(HostedControlPlane, ourName);
    await operator.untilSettled();
    expect(managementCluster.hostedControlPlane.metadata.finalizers).toEqual([another]);
    await operator.stop();
  });
});
