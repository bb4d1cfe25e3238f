import { beforeAll, describe, expect, it } from 'vitest';
import { pausedAnnotation } from '../../constructs/api/group.ts';
import { Cluster, HostedControlPlane, StatefulSet } from '../../constructs/api/resources.ts';
import { type MemoryCluster, ourName } from '../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../support/loop/operator-process.ts';
import { completeCluster, orderedCluster } from '../support/loop/scenario.ts';
import { clusterName, namespace } from '../support/scope.ts';

const user = { fieldManager: 'user' };

const pauses: [string, (management: MemoryCluster, isPaused: boolean) => Promise<unknown>, RegExp][] = [
  [
    'its Cluster is paused',
    ({ user: client }, paused) =>
      client.mergePatch(Cluster, { namespace, name: clusterName }, { spec: { paused } }, user),
    /^Cluster c1 is paused/,
  ],
  [
    'it has the annotation',
    ({ user: client }, isPaused) => {
      const annotations = { [pausedAnnotation]: isPaused ? '' : null };
      return client.mergePatch(HostedControlPlane, ourName, { metadata: { annotations } }, user);
    },
    /^the annotation cluster\.x-k8s\.io\/paused is set/,
  ],
];

const pausedIn = ({ conditions }: MemoryCluster) => conditions.find(({ type }) => type === 'Paused');

let complete: MemoryCluster;
beforeAll(async () => {
  complete = await completeCluster();
});

describe('a control plane', () => {
  it.each(pauses)(
    'only reports that it is paused, from its creation on, until it is resumed: %s',
    async (_, pause, message) => {
      const management = await orderedCluster();
      await pause(management, true);
      const begun = management.management.writes.length;
      const operator = await OperatorProcess.start(management);
      await operator.rounds(3);
      const written = management.management.writes.slice(begun).filter((write) => !/ Event /.test(write));
      expect(written).toEqual([`apply HostedControlPlane ${namespace}/${ourName.name}`]);
      expect(management.hostedControlPlane['status']).toEqual({
        conditions: [pausedIn(management)],
        summary: 'Paused',
      });
      expect(pausedIn(management)).toMatchObject({ status: 'True', reason: 'Paused', observedGeneration: 1 });
      expect(pausedIn(management)?.message).toMatch(message);

      await pause(management, false);
      await operator.rounds(2);
      await operator.stop();
      expect(pausedIn(management)).toMatchObject({ status: 'False', reason: 'NotPaused' });
      expect(management.objects.get(StatefulSet, 'c1-etcd')).toBeDefined();
    },
  );

  it('is not reported as paused after the pause when another provider has made it', async () => {
    const management = complete.copy();
    const [[, pause] = []] = pauses;
    const operator = await OperatorProcess.start(management);
    await pause?.(management, true);
    await operator.rounds(2);
    expect(pausedIn(management)?.status).toBe('True');
    const labels = { 'app.kubernetes.io/managed-by': 'another provider' };
    const template = { metadata: { labels } };
    await management.user.mergePatch(StatefulSet, { namespace, name: 'c1-etcd' }, { spec: { template } }, user);
    await pause?.(management, false);
    await operator.rounds(2);
    await operator.stop();
    expect(management.conditions.find(({ type }) => type === 'Ready')?.reason).toBe('ForeignControlPlane');
    expect(pausedIn(management)?.status).toBe('False');
  });
});
