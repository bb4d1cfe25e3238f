import { beforeAll, describe, expect, it } from 'vitest';
import { Cluster, Event, HostedControlPlane, Pod, Secret } from '../../constructs/api/resources.ts';
import { selectorLabels } from '../../constructs/cluster/labels.ts';
import { type MemoryCluster, ourName } from '../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../support/loop/operator-process.ts';
import { completeCluster } from '../support/loop/scenario.ts';
import type { StoredObject } from '../support/memory-objects.ts';
import { clusterName, namespace } from '../support/scope.ts';
import type { ReadByCore } from './core.ts';

const user = { fieldManager: 'user' };

let complete: MemoryCluster;
beforeAll(async () => {
  complete = await completeCluster();
});

const read = ({ hostedControlPlane }: MemoryCluster) => hostedControlPlane as unknown as ReadByCore;

const availableIn = ({ conditions }: MemoryCluster) => conditions.find(({ type }) => type === 'Available')?.status;

const apiServersIn = ({ objects }: MemoryCluster) => objects.list(Pod, selectorLabels(clusterName, 'api-server'));

describe('a control plane', () => {
  it('serves while its Cluster is being deleted, until it is deleted too', async () => {
    const management = complete.copy();
    const name = { namespace, name: clusterName };
    await management.user.mergePatch(Cluster, name, { metadata: { finalizers: ['cluster.x-k8s.io'] } }, user);
    await management.user.delete(Cluster, name);
    const operator = await OperatorProcess.start(management);
    await management.user.delete(Secret, { namespace, name: 'c1-scheduler' });
    await operator.untilSettled();
    expect(management.objects.get(Secret, 'c1-scheduler')).toBeDefined();
    expect(apiServersIn(management)).toHaveLength(2);
    expect(availableIn(management)).toBe('True');
    await management.user.delete(HostedControlPlane, ourName);
    await operator.untilSettled();
    await operator.stop();
    expect(apiServersIn(management)).toEqual([]);
    expect(management.objects.get(HostedControlPlane, ourName.name)).toBeUndefined();
  });

  it('is not available for core any more once its API servers are deleted', async () => {
    const management = complete.copy();
    const finalizers = ['example.org/keeps-it'];
    const [pod] = management.objects.list<StoredObject>(Pod, selectorLabels(clusterName, 'etcd'));
    if (!pod) throw new Error('no member of etcd runs');
    const operator = await OperatorProcess.start(management);
    management.objects.put({ ...pod, metadata: { ...pod.metadata, finalizers } });
    await management.user.delete(HostedControlPlane, ourName);
    await operator.rounds(6);
    await operator.stop();
    expect(apiServersIn(management)).toEqual([]);
    const { status } = read(management);
    expect(status).toMatchObject({ replicas: 0, readyReplicas: 0, availableReplicas: 0, upToDateReplicas: 0 });
    expect(status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Available', status: 'False', reason: 'Deleting' }),
    );
    expect(status?.versions).toEqual(read(complete).status?.versions);
    const warnings = management.objects.list<StoredObject>(Event, {}).filter((event) => event['type'] === 'Warning');
    expect(warnings).toEqual([]);
  });

  it('is deleted without a trace although its Cluster is gone', async () => {
    const management = complete.copy();
    const operator = await OperatorProcess.start(management);
    await management.user.delete(HostedControlPlane, ourName);
    await management.user.delete(Cluster, { namespace, name: clusterName });
    await operator.untilSettled();
    await operator.stop();
    expect(management.objects.objects.map(({ kind }) => kind).filter((kind) => kind !== 'Event')).toEqual([]);
  });
});
