import type { DeploymentObject, PodObject, StatefulSetObject } from '../../../imports/kubernetes.ts';
import { describe, expect, it } from 'vitest';
import {
  deploymentReadiness,
  somePodAvailable,
  startedPods,
  statefulSetReadiness,
} from '../../../reconciler/kube/readiness.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';

const deployment = (status: DeploymentObject['status'], replicas = 3): DeploymentObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'api', generation: 2 },
  spec: { replicas },
  ...(status ? { status } : {}),
});
const statefulSet = (status: StatefulSetObject['status'], replicas = 3): StatefulSetObject => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'etcd', generation: 2 },
  spec: { replicas },
  ...(status ? { status } : {}),
});
const ready = { ready: true };
const notReady = (message: string) => ({ ready: false, message });

describe('deploymentReadiness', () => {
  const done = { observedGeneration: 2, replicas: 3, updatedReplicas: 3, availableReplicas: 3 };
  it.each<[string, DeploymentObject | undefined, object]>([
    ['does not exist', undefined, notReady('the Deployment does not exist yet')],
    ['is rolled out', deployment(done), ready],
    [
      'has a change its controller has not observed',
      deployment({ ...done, observedGeneration: 1 }),
      notReady(unseen()),
    ],
    ['has no status yet', deployment(undefined), notReady(unseen())],
    ['has old pods only', deployment({ ...done, updatedReplicas: 1 }), notReady('1 of 3 replicas updated')],
    ['has an old pod left', deployment({ ...done, replicas: 4 }), notReady('1 old replica still running')],
    ['has old pods left', deployment({ ...done, replicas: 5 }), notReady('2 old replicas still running')],
    ['has unavailable pods', deployment({ ...done, availableReplicas: 2 }), notReady('2 of 3 replicas available')],
    ['is scaled to nothing', deployment({ observedGeneration: 2 }, 0), ready],
    [
      'is stuck',
      deployment({
        ...done,
        availableReplicas: 2,
        conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }],
      }),
      { ...notReady('2 of 3 replicas available, without progress for too long'), isStuck: true },
    ],
  ])('evaluates a Deployment that %s', (_, object, expected) => {
    expect(deploymentReadiness(object)).toEqual(expected);
  });
});

describe('statefulSetReadiness', () => {
  const done = {
    observedGeneration: 2,
    replicas: 3,
    updatedReplicas: 3,
    availableReplicas: 3,
    currentRevision: 'a',
    updateRevision: 'a',
  };
  it.each<[string, StatefulSetObject | undefined, object]>([
    ['does not exist', undefined, notReady('the StatefulSet does not exist yet')],
    ['is rolled out', statefulSet(done), ready],
    [
      'has a change its controller has not observed',
      statefulSet({ ...done, observedGeneration: 1 }),
      notReady(unseen()),
    ],
    ['lacks a pod', statefulSet({ ...done, replicas: 2, availableReplicas: 2 }), notReady('2 of 3 replicas available')],
    [
      'shrinks',
      statefulSet({ ...done, replicas: 5, availableReplicas: 5 }),
      notReady('2 surplus replicas still running'),
    ],
    [
      'waits for its old pods to be replaced',
      statefulSet({ ...done, updatedReplicas: 1, updateRevision: 'b' }),
      notReady('1 of 3 replicas updated'),
    ],
    [
      'has equal revisions and does not count updated pods any more',
      statefulSet({ ...done, updatedReplicas: 0 }),
      ready,
    ],
  ])('evaluates a StatefulSet that %s', (_, object, expected) => {
    expect(statefulSetReadiness(object)).toEqual(expected);
  });
});

describe('somePodAvailable', () => {
  const object = (kind: string, rest: object): KubeObject => ({
    apiVersion: 'apps/v1',
    kind,
    metadata: { namespace: 'kube-system', name: 'x', generation: 2 },
    ...rest,
  });
  const daemonSet = (status: object) => object('DaemonSet', { status: { observedGeneration: 2, ...status } });

  it.each<[string, KubeObject, object]>([
    [
      'a Deployment with one of its pods',
      object('Deployment', { spec: { replicas: 2 }, status: { availableReplicas: 1 } }),
      ready,
    ],
    [
      'a Deployment without any',
      object('Deployment', { spec: { replicas: 2 }, status: {} }),
      notReady('Deployment kube-system/x: 0 of 2 pods available'),
    ],
    [
      'a Deployment its controller has not observed yet',
      object('Deployment', {}),
      notReady('Deployment kube-system/x: 0 of 1 pod available'),
    ],
    ['a Deployment with zero replicas', object('Deployment', { spec: { replicas: 0 } }), ready],
    ['a DaemonSet on one of three nodes', daemonSet({ desiredNumberScheduled: 3, numberAvailable: 1 }), ready],
    [
      'a DaemonSet on none of three nodes',
      daemonSet({ desiredNumberScheduled: 3, numberAvailable: 0 }),
      notReady('DaemonSet kube-system/x: 0 of 3 pods available'),
    ],
    ['a DaemonSet that matches no node', daemonSet({ desiredNumberScheduled: 0 }), ready],
    [
      'a DaemonSet its controller has not observed yet',
      daemonSet({ observedGeneration: 1, desiredNumberScheduled: 0 }),
      notReady('DaemonSet kube-system/x: its controller has not planned its pods yet'),
    ],
    ['a kind without pods', object('ConfigMap', {}), ready],
  ])('evaluates %s', (_, given, expected) => {
    expect(somePodAvailable(given)).toEqual(expected);
  });
});

describe('startedPods', () => {
  const pod = (states: object[], deletionTimestamp?: string): PodObject => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'etcd-0', deletionTimestamp },
    status: { containerStatuses: states.map((state, index) => ({ name: `${index}`, state })) },
  });

  it('counts pods whose containers all run, ready or not', () => {
    const pods = [
      pod([{ running: {} }]),
      pod([{ running: {} }, { waiting: {} }]),
      pod([]),
      pod([{ running: {} }], '2026-01-01T00:00:00Z'),
    ];
    expect(startedPods(pods)).toBe(1);
  });
});

function unseen(): string {
  return 'its controller has not observed the latest change yet';
}
