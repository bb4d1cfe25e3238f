import { describe, expect, it } from 'vitest';
import { Event, Pod, StatefulSet } from '../../../../constructs/api/resources.ts';
import { type ComponentName, selectorLabels } from '../../../../constructs/cluster/labels.ts';
import { waitForPods } from '../../../../reconciler/clusters/pods/wait-for-pods.ts';
import { MemoryObjects } from '../../../support/memory-objects.ts';
import { clusterOf } from '../../../support/rendered-cluster.ts';

const now = new Date('2026-11-23T12:00:00Z');

const ago = (seconds: number): string => new Date(now.getTime() - seconds * 1000).toISOString();

/** Nothing is asked. */
const asleep = { probe: async () => ({ kind: 'unknown' }) as const };

/** The words of the condition of a component that is not ready. */
const waiting = (objects: MemoryObjects, component: ComponentName) =>
  waitForPods(
    component,
    { message: 'it is not ready' },
    { cluster: clusterOf(), reader: objects, writer: objects, podsProbe: () => asleep, now },
  );

it('asks again when containers that are being created become late, which no event reports', async () => {
  const reader = new MemoryObjects();
  reader.put({
    apiVersion: Pod.apiVersion,
    kind: Pod.kind,
    metadata: {
      name: 'c1-scheduler-0',
      labels: selectorLabels('c1', 'scheduler'),
      creationTimestamp: new Date(now.getTime() - 10_000).toISOString(),
    },
    status: { containerStatuses: [{ name: 'scheduler', state: { waiting: { reason: 'ContainerCreating' } } }] },
  });
  expect(await waiting(reader, 'scheduler')).toMatchObject({
    reason: 'WaitingForPods',
    message: 'it is not ready',
    afterMs: 20_000,
  });
});

describe('what pods do not say themselves', () => {
  const runningUnready = (name: string) => ({
    containerStatuses: [{ name, ready: false, started: true, state: { running: { startedAt: ago(90) } } }],
  });
  const probe = { httpGet: { path: '/readyz', port: 6443 } };

  function withPod(status: object, containers: object[] = []): MemoryObjects {
    const objects = new MemoryObjects();
    objects.put({
      apiVersion: Pod.apiVersion,
      kind: Pod.kind,
      metadata: {
        name: 'c1-api-server-0',
        uid: 'u1',
        labels: selectorLabels('c1', 'api-server'),
        creationTimestamp: ago(99),
      },
      spec: { containers },
      status,
    });
    return objects;
  }

  function warn(objects: MemoryObjects, event: object): void {
    const { apiVersion, kind } = Event;
    const told = { type: 'Warning', reportingController: 'kubelet', deprecatedLastTimestamp: ago(5) };
    objects.put({ apiVersion, kind, metadata: { name: 'e' }, ...told, ...event });
  }

  it('is the answer of a probe', async () => {
    const objects = withPod(runningUnready('kube-apiserver'), [{ name: 'kube-apiserver', readinessProbe: probe }]);
    const fails =
      'it is not ready; pod c1-api-server-0: container kube-apiserver runs, and its readiness probe GET /readyz at port 6443 fails';
    expect(await waiting(objects, 'api-server')).toMatchObject({
      message: `${fails}: the events of the pod have the answer`,
      afterMs: 30_000,
    });
    const note = 'Readiness probe failed: HTTP probe failed with statuscode: 401';
    const regarding = { kind: 'Pod', uid: 'u1', fieldPath: 'spec.containers{kube-apiserver}' };
    warn(objects, { regarding, reason: 'Unhealthy', note });
    expect(await waiting(objects, 'api-server')).toMatchObject({
      reason: 'WaitingForPods',
      message: `${fails}: ${note}`,
    });
  });

  it('is a volume that is missing', async () => {
    const objects = withPod({
      containerStatuses: [{ name: 'kube-apiserver', state: { waiting: { reason: 'ContainerCreating' } } }],
    });
    const note = 'MountVolume.SetUp failed for volume "audit" : secret "audit" not found';
    warn(objects, { regarding: { kind: 'Pod', uid: 'u1' }, reason: 'FailedMount', note });
    expect(await waiting(objects, 'api-server')).toMatchObject({
      message: `it is not ready; pod c1-api-server-0: its containers are not created: ${note}`,
    });
  });

  it('is what refuses the pods of a StatefulSet, once it has had the time to create them', async () => {
    const objects = new MemoryObjects();
    const set = (age: number, replicas: number) =>
      objects.put({
        apiVersion: StatefulSet.apiVersion,
        kind: StatefulSet.kind,
        metadata: {
          name: 'c1-etcd',
          uid: 'u2',
          labels: selectorLabels('c1', 'etcd'),
          creationTimestamp: ago(age),
          generation: 1,
        },
        spec: { replicas: 1 },
        status: { observedGeneration: 1, replicas },
      });
    const note =
      'create Pod c1-etcd-0 in StatefulSet c1-etcd failed error: pods "c1-etcd-0" is forbidden: exceeded quota: q';
    warn(objects, {
      regarding: { kind: 'StatefulSet', uid: 'u2' },
      reason: 'FailedCreate',
      note,
      reportingController: undefined,
      deprecatedSource: { component: 'statefulset-controller' },
    });
    set(4, 0);
    expect(await waiting(objects, 'etcd')).toMatchObject({ message: 'it is not ready', afterMs: 6_000 });
    set(10, 0);
    expect(await waiting(objects, 'etcd')).toMatchObject({
      reason: 'PodsFailing',
      message: `it is not ready; StatefulSet c1-etcd: ${note}`,
      afterMs: 30_000,
    });
    set(10, 1);
    expect(await waiting(objects, 'etcd')).toMatchObject({ message: 'it is not ready', afterMs: undefined });
  });
});
