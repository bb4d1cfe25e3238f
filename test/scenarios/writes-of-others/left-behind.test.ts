import { expect, it } from 'vitest';
import { Cluster, Event, HostedControlPlane, PersistentVolumeClaim, Pod } from '../../../constructs/api/resources.ts';
import type { MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { ourName } from '../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { completeCluster } from '../../support/loop/scenario.ts';
import type { StoredObject } from '../../support/memory-objects.ts';
import { clusterName, namespace } from '../../support/scope.ts';
import { isTrue } from '../conditions/operate.ts';

const runs = ({ objects }: MemoryCluster) =>
  [Pod, PersistentVolumeClaim].flatMap((resource) =>
    objects.list(resource, {}).map(({ metadata }) => `${metadata.name} ${metadata.uid}`),
  );

it.each(['the operator', 'the garbage collector'])(
  'a deletion that leaves its dependents stops nothing, and a successor takes over: %s is first',
  async (first) => {
    const cluster = await completeCluster();
    const operator = await OperatorProcess.start(cluster);
    await operator.untilSettled();
    const before = runs(cluster);
    await cluster.user.delete(HostedControlPlane, ourName, { propagationPolicy: 'Orphan' });
    if (first === 'the garbage collector') cluster.settle();
    await operator.untilObserved();
    await operator.reconcile();
    await operator.rounds(3);
    expect(cluster.objects.get(HostedControlPlane, ourName.name)).toBeUndefined();
    expect(runs(cluster)).toEqual(before);
    const told = cluster.objects.list<StoredObject>(Event, {}).filter(({ reason }) => reason === 'ControlPlaneLeft');
    expect(told.map(({ note }) => note)).toEqual([expect.stringContaining(`cluster-name=${clusterName}`)]);

    await cluster.orderControlPlane(await cluster.user.get(Cluster, { namespace, name: clusterName }));
    await operator.untilSettled();
    expect(isTrue(cluster)).toBe(true);
    expect(runs(cluster)).toEqual(before);
    expect(operator.errors).toEqual([]);
    await operator.stop();
  },
);
