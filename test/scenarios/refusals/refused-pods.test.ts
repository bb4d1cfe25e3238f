import { expect, it } from 'vitest';
import { Pod, ResourceQuota } from '../../../constructs/api/resources.ts';
import type { MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { completeCluster, smallestSpec } from '../../support/loop/scenario.ts';
import { namespace } from '../../support/scope.ts';
import { underQuota } from '../conditions/surroundings.ts';

const conditionOf = ({ conditions }: MemoryCluster, type: string): string => {
  const { status, reason, message } = conditions.find((one) => one.type === type) ?? {};
  return `${status} ${reason}: ${message}`;
};

it('the only member of etcd whose pod is refused is told in the words of the API server, until nothing refuses it', async () => {
  const cluster = await completeCluster(smallestSpec);
  const operator = await OperatorProcess.start(cluster);
  await operator.untilSettled();
  await cluster.clock.advance(10_000);
  await underQuota(cluster);
  await cluster.user.delete(Pod, { namespace, name: 'c1-etcd-0' });
  cluster.settle();
  await operator.untilObserved();
  await operator.rounds(1);
  const told =
    /^False PodsFailing: etcd: .*StatefulSet c1-etcd: Create Pod c1-etcd-0 .* failed quota: quota: must specify/;
  expect(conditionOf(cluster, 'EtcdClusterReady')).toMatch(told);
  expect(operator.requeueAt?.getTime()).toBeLessThanOrEqual(cluster.clock.now() + 30_000);
  await cluster.user.delete(ResourceQuota, { namespace, name: 'quota' });
  await operator.untilSettled();
  expect(conditionOf(cluster, 'EtcdClusterReady')).toMatch(/^True/);
  expect(operator.errors).toEqual([]);
  await operator.stop();
});
