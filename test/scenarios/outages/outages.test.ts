import { beforeAll, describe, expect, it } from 'vitest';
import { Deployment, Event, PersistentVolumeClaim, Pod, Secret, Service } from '../../../constructs/api/resources.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { completeCluster, orderedCluster, settleBy } from '../../support/loop/scenario.ts';
import type { MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { loadBalancerAddress } from '../../support/management-controllers.ts';
import { kubectlGet } from '../../support/printed-columns.ts';
import type { StoredObject } from '../../support/memory-objects.ts';
import { clusterName } from '../../support/scope.ts';
import { type ComponentName, selectorLabels } from '../../../constructs/cluster/labels.ts';

let complete: MemoryCluster;
beforeAll(async () => {
  complete = await completeCluster();
});

/** Loses it in spite of its finalizer, as with etcd of the management cluster. */
function loseSecret({ management, objects }: MemoryCluster, name: string): void {
  const secret = objects.get(Secret, name);
  if (secret) management.store.remove(secret);
}

/** Events as `type reason`, in the order of their writes. */
function eventsIn(managementCluster: MemoryCluster): string[] {
  return managementCluster.objects
    .list<StoredObject>(Event, {})
    .map((event) => `${String(event['type'])} ${String(event['reason'])}`);
}

/** Nothing is available any more, as the Deployment controller says when all pods have failed. */
function loseReplicas(managementCluster: MemoryCluster, name: string): void {
  const deployment = managementCluster.objects.get<StoredObject>(Deployment, name)!;
  const status = { ...(deployment['status'] as object), availableReplicas: 0, readyReplicas: 0 };
  managementCluster.objects.put({ ...deployment, status });
}

/** The pods of a component end with an error again and again. */
function crashPods({ objects }: MemoryCluster, component: ComponentName): void {
  for (const pod of objects.list<StoredObject>(Pod, selectorLabels(clusterName, component))) {
    const state = { waiting: { reason: 'CrashLoopBackOff' } };
    const lastState = { terminated: { exitCode: 1, message: 'Error: unknown flag: --cloud-provider' } };
    const containerStatuses = [{ name: component, ready: false, state, lastState }];
    objects.put({ ...pod, status: { conditions: [{ type: 'Ready', status: 'False' }], containerStatuses } });
  }
}

/** The members of etcd lose their volumes, all but so many. */
function loseMembers({ objects }: MemoryCluster, kept = 0): void {
  for (const resource of [Pod, PersistentVolumeClaim])
    for (const object of objects.list<StoredObject>(resource, selectorLabels(clusterName, 'etcd')).slice(kept))
      objects.remove(object);
}

/** The path of workers to the API server changes, as when a load balancer is repaired. */
function moveService({ objects }: MemoryCluster): void {
  for (const service of objects.list<StoredObject>(Service, selectorLabels(clusterName, 'api-server')))
    objects.put({ ...service, status: { loadBalancer: { ingress: [{ ip: loadBalancerAddress, ipMode: 'Proxy' }] } } });
}

describe('the events of a control plane', () => {
  it('are at most ten for a bring-up, none of them a Warning', async () => {
    const managementCluster = await orderedCluster();
    await settleBy(managementCluster);
    const events = eventsIn(managementCluster);
    expect(events.length).toBeLessThanOrEqual(10);
    expect(events).toEqual(expect.arrayContaining(['Normal Available', 'Normal Initialized', 'Normal Ready']));
    expect(events.filter((event) => event.startsWith('Warning'))).toEqual([]);
  });

  it('and its conditions repeat what a crashing container says', async () => {
    const managementCluster = complete.copy();
    loseReplicas(managementCluster, 'c1-scheduler');
    crashPods(managementCluster, 'scheduler');
    const operator = await OperatorProcess.start(managementCluster);
    await operator.reconcile();
    const scheduler = managementCluster.conditions.find(({ type }) => type === 'SchedulerReady');
    expect(scheduler).toMatchObject({
      status: 'False',
      reason: 'PodsFailing',
      message: expect.stringMatching(
        /^scheduler: 0 of \d replicas available; pod c1-scheduler-0.*: container scheduler ended with exit code 1: unknown flag: --cloud-provider$/,
      ) as string,
    });
    const [, line = ''] = kubectlGet(managementCluster.hostedControlPlane, managementCluster.clock.now());
    expect(line).toMatch(/^\S+ +PodsFailing +v1\.36\.3 .* 0s$/);
    await operator.stop();
  });

  it.each<[string, (managementCluster: MemoryCluster) => void, string]>([
    ['no API server is available', (cluster) => loseReplicas(cluster, 'c1-api-server'), 'Warning NotAvailable'],
    [
      'the controller manager crashes',
      (cluster) => {
        loseReplicas(cluster, 'c1-controller-manager');
        crashPods(cluster, 'controller-manager');
      },
      'Warning PodsFailing',
    ],
    ['etcd has lost its data', (cluster) => loseMembers(cluster), 'Warning DataLost'],
    [
      'two of three members of etcd have lost their data',
      (cluster) => {
        loseMembers(cluster, 1);
        cluster.etcd.hasNoQuorum = true;
      },
      'Warning QuorumLost',
    ],
    ['etcd is full', ({ etcd }) => (etcd.isFull = true), 'Warning SpaceExhausted'],
    [
      'the endpoint leads nowhere any more',
      (cluster) => {
        cluster.endpointLeadsNowhere = true;
        moveService(cluster);
      },
      'Warning EndpointUnreachable',
    ],
    ['a CA is lost', (cluster) => loseSecret(cluster, 'c1-ca'), 'Warning CACertificateMissing'],
    [
      'the keys of Secrets are lost',
      (cluster) => loseSecret(cluster, 'c1-encryption'),
      'Warning EncryptionKeysMissing',
    ],
  ])('include a Warning when %s', async (_, fail, warning) => {
    const managementCluster = complete.copy();
    const operator = await OperatorProcess.start(managementCluster);
    await operator.untilSettled();
    const before = eventsIn(managementCluster);
    fail(managementCluster);
    for (let seconds = 0; seconds < 60; seconds += 30) {
      await managementCluster.clock.advance(30_000);
      await operator.untilObserved();
      await operator.reconcile();
    }
    expect(eventsIn(managementCluster).slice(before.length)).toContain(warning);
    await operator.stop();
  });

  it('count a second outage with the same message soon after the first', async () => {
    const managementCluster = complete.copy();
    const operator = await OperatorProcess.start(managementCluster);
    await operator.untilSettled();
    for (let outage = 0; outage < 2; outage++) {
      loseReplicas(managementCluster, 'c1-api-server');
      await operator.untilObserved();
      await operator.reconcile();
      await operator.untilSettled();
    }
    const warnings = managementCluster.objects
      .list<StoredObject>(Event, {})
      .filter((event) => event['type'] === 'Warning' && event['reason'] === 'NotAvailable');
    expect(warnings).toMatchObject([{ series: { count: 2 } }]);
    await operator.stop();
  });
});
