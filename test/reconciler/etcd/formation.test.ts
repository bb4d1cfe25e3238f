import { beforeAll, describe, expect, it } from 'vitest';
import { blockMoveAnnotation, etcdFormedAnnotation } from '../../../constructs/api/group.ts';
import {
  Cluster,
  ConfigMap,
  HostedControlPlane,
  PersistentVolumeClaim,
  Secret,
} from '../../../constructs/api/resources.ts';
import { writtenStarts } from '../../../reconciler/etcd/etcd-facts.ts';
import { adviceOnMove } from '../../../reconciler/etcd/formation.ts';
import { MemoryCluster, ourName } from '../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { completeCluster, settleBy, smallestSpec } from '../../support/loop/scenario.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { clusterName, namespace } from '../../support/scope.ts';

const user = { fieldManager: 'user' };

let complete: MemoryCluster;
beforeAll(async () => {
  complete = await completeCluster();
});

function annotationsIn(management: MemoryCluster) {
  return management.hostedControlPlane.metadata.annotations ?? {};
}

function healthIn({ conditions }: MemoryCluster) {
  return conditions.find(({ type }) => type === 'EtcdClusterHealthy');
}

const startsIn = ({ objects }: MemoryCluster) => writtenStarts(clusterName, objects).map(({ state }) => state);

describe('that etcd was formed', () => {
  it('is written on the object, which clusterctl must not move from then on', async () => {
    expect(annotationsIn(complete)).toEqual({ [etcdFormedAnnotation]: '1267', [blockMoveAnnotation]: 'etcd' });
  });

  it('is written again after somebody removed an annotation', async () => {
    const management = complete.copy();
    const annotations = { [etcdFormedAnnotation]: null, [blockMoveAnnotation]: null };
    await management.user.mergePatch(HostedControlPlane, ourName, { metadata: { annotations } }, user);
    await settleBy(management);
    expect(annotationsIn(management)).toEqual(annotationsIn(complete));
  });

  it.each([
    ['with the configuration files of members, as clusterctl moves them', [Secret, ConfigMap]],
    ['without them, as a restored manifest', [Secret]],
  ])('keeps members of an object from elsewhere from founding an empty etcd: %s', async (_, kinds) => {
    const management = await elsewhere(kinds.map(({ kind }) => kind));
    const operator = await OperatorProcess.start(management);
    await operator.reconcile();
    expect(startsIn(management)).toEqual(['existing', 'existing', 'existing']);
    management.settle();
    await operator.untilSettled();
    await operator.stop();
    expect(startsIn(management)).toEqual(['existing', 'existing', 'existing']);
    expect(healthIn(management)).toMatchObject({ status: 'False', reason: 'DataLost' });
    expect(healthIn(management)?.message).toMatch(/does not start an empty etcd.*etcd\.restore/);
    expect(management.objects.get(PersistentVolumeClaim, 'etcd-data-c1-etcd-0')?.metadata.annotations).toBeUndefined();
    expect(annotationsIn(management)).toEqual(annotationsIn(complete));
  });

  it('is not assumed for an object without the annotation: its etcd starts', async () => {
    const management = await elsewhere([], {});
    await settleBy(management);
    expect(healthIn(management)).toMatchObject({ status: 'True' });
  });

  it('is not assumed for a successor of one whose deletion left its dependents: its etcd starts', async () => {
    const management = await completeCluster(smallestSpec);
    await management.user.delete(HostedControlPlane, ourName);
    const operator = await OperatorProcess.start(management);
    await operator.rounds(3);
    await management.user.delete(HostedControlPlane, ourName, { propagationPolicy: 'Orphan' });
    management.settle();
    await operator.untilSettled();
    await operator.stop();
    expect(management.objects.list(PersistentVolumeClaim, {})).toEqual([]);
    expect(startsIn(management)).toEqual(['existing']);
    const owner = await management.user.get(Cluster, { namespace, name: clusterName });
    await management.orderControlPlane(owner, smallestSpec);
    await settleBy(management);
    expect(management.conditions.find(({ type }) => type === 'Ready')?.status).toBe('True');
  });

  it('is told by the condition Paused, because clusterctl leaves the Cluster paused when it gives up', async () => {
    const management = complete.copy();
    await management.user.mergePatch(Cluster, { namespace, name: clusterName }, { spec: { paused: true } }, user);
    const operator = await OperatorProcess.start(management);
    await operator.reconcile();
    expect(management.conditions.find(({ type }) => type === 'Paused')?.message).toMatch(
      /set its spec.paused to false to resume\. clusterctl move .*block-move.*hcp move prepare/,
    );
    await operator.stop();
    expect(adviceOnMove({ annotations: {} })).toBe('');
  });
});

/** Another management cluster, with the object and those of these kinds, but without its status and its volumes. */
async function elsewhere(kinds: readonly string[], annotations = annotationsIn(complete)): Promise<MemoryCluster> {
  const management = new MemoryCluster(new ManualClock(complete.clock.now()));
  await management.install();
  await management.order({}, annotations);
  const { uid = '' } = management.hostedControlPlane.metadata;
  for (const { metadata: from, ...object } of complete.objects.objects.filter((one) => kinds.includes(one.kind))) {
    const ownerReferences = from.ownerReferences?.map((owner) => ({ ...owner, uid }));
    const { name, labels = {}, annotations: own = {} } = from;
    await management.user.create(
      { ...object, metadata: { name, namespace, labels, annotations: own, ownerReferences } },
      user,
    );
  }
  return management;
}
