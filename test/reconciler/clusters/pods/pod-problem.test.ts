import type { ContainerStatus, PodObject } from '../../../../imports/kubernetes.ts';
import { expect, it } from 'vitest';
import { Deployment, PersistentVolumeClaim, Pod } from '../../../../constructs/api/resources.ts';
import { type ObservedPods, findPodProblem, untilLateMs } from '../../../../reconciler/clusters/pods/pod-problem.ts';

const now = new Date('2026-11-23T12:00:00Z');
const ago = (seconds: number): string => new Date(now.getTime() - seconds * 1000).toISOString();

function pod(status: PodObject['status'], metadata: object = {}): PodObject {
  const { apiVersion, kind } = Pod;
  return { apiVersion, kind, metadata: { name: 'p', creationTimestamp: ago(60), ...metadata }, status: { ...status } };
}
const withContainer = (container: Partial<ContainerStatus>, metadata: object = {}): PodObject =>
  pod({ containerStatuses: [{ name: 'main', ...container }] }, metadata);

const ended = { exitCode: 1, reason: 'Error', message: 'Error: unknown flag: --v' };
const crashLoop = { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 20s restarting failed container' } };
const creating = { waiting: { reason: 'ContainerCreating' } };
const unknownFlag = 'PodsFailing: pod p: container main ended with exit code 1: unknown flag: --v';
const noVolume = '0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims';
const unboundFor = (seconds: number): PodObject =>
  pod(
    {
      conditions: [
        { type: 'Ready', status: 'False' },
        { type: 'PodScheduled', status: 'False', message: noVolume },
      ],
    },
    { creationTimestamp: ago(seconds) },
  );
const unready = { type: 'Ready', status: 'False' };

function claim(status: object): NonNullable<ObservedPods['claims']>[number] {
  return { apiVersion: 'v1', kind: PersistentVolumeClaim.kind, metadata: { name: 'data-p' }, status };
}

it.each<[string, Partial<ObservedPods>, string | undefined]>([
  ['there are none', {}, undefined],
  ['one crashes', { pods: [withContainer({ state: crashLoop, lastState: { terminated: ended } })] }, unknownFlag],
  ['one has just ended', { pods: [withContainer({ state: { terminated: ended } })] }, unknownFlag],
  [
    'one has just started again',
    { pods: [withContainer({ state: { running: { startedAt: ago(20) } }, lastState: { terminated: ended } })] },
    unknownFlag,
  ],
  [
    'one crashed long ago',
    { pods: [withContainer({ state: { running: { startedAt: ago(3600) } }, lastState: { terminated: ended } })] },
    'WaitingForPods: pod p: container main runs, and its readiness probe fails: the events of the pod have the answer',
  ],
  [
    'one runs and its readiness probe fails',
    {
      pods: [
        {
          ...withContainer({ started: true, state: { running: { startedAt: ago(60) } } }),
          spec: { containers: [{ name: 'main', readinessProbe: { httpGet: { path: '/readyz', port: 6443 } } }] },
        },
      ],
    },
    'WaitingForPods: pod p: container main runs, and its readiness probe GET /readyz at port 6443 fails: the events of the pod have the answer',
  ],
  [
    'one runs and its startup probe fails',
    {
      pods: [
        {
          ...withContainer({ started: false, state: { running: { startedAt: ago(60) } } }),
          spec: { containers: [{ name: 'main', startupProbe: { tcpSocket: { port: 2379 } } }] },
        },
      ],
    },
    'WaitingForPods: pod p: container main runs, and its startup probe at port 2379 fails: the events of the pod have the answer',
  ],
  [
    'one has run for less than a minute',
    { pods: [withContainer({ state: { running: { startedAt: ago(59) } } })] },
    undefined,
  ],
  [
    'the node of one does not report',
    { pods: [{ ...withContainer({ ready: true, state: { running: {} } }), spec: { nodeName: 'n7' } }] },
    'PodsFailing: pod p: is on node n7, which does not report: if that node is off for good, give it the taint node.kubernetes.io/out-of-service=nodeshutdown:NoExecute, or delete the Node',
  ],
  [
    'the node of one that goes does not confirm its end',
    {
      pods: [
        { ...withContainer({ state: { running: {} } }, { deletionTimestamp: ago(30) }), spec: { nodeName: 'n7' } },
      ],
    },
    'PodsFailing: pod p: stays Terminating, because node n7 does not confirm its end: if that node is off for good, give it the taint node.kubernetes.io/out-of-service=nodeshutdown:NoExecute, or delete the Node',
  ],
  [
    'one goes, and its node may confirm it yet',
    {
      pods: [
        { ...withContainer({ state: { running: {} } }, { deletionTimestamp: ago(29) }), spec: { nodeName: 'n7' } },
      ],
    },
    undefined,
  ],
  [
    'a finalizer holds one',
    {
      pods: [
        {
          ...withContainer({ state: { running: {} } }, { deletionTimestamp: ago(90), finalizers: ['x.example.org/a'] }),
          spec: { nodeName: 'n7' },
        },
      ],
    },
    undefined,
  ],
  [
    'one is ready again',
    { pods: [withContainer({ ready: true, state: { running: {} }, lastState: { terminated: ended } })] },
    undefined,
  ],
  [
    'an init container fails',
    {
      pods: [
        pod({
          initContainerStatuses: [{ name: 'swap', state: { terminated: { exitCode: 2, message: 'no space left' } } }],
          containerStatuses: [{ name: 'etcd', state: { waiting: { reason: 'PodInitializing' } } }],
        }),
      ],
    },
    'PodsFailing: pod p: container swap ended with exit code 2: no space left',
  ],
  [
    'one exceeds its memory',
    { pods: [withContainer({ state: { terminated: { exitCode: 137, reason: 'OOMKilled' } } })] },
    'PodsFailing: pod p: container main ended with exit code 137 (OOMKilled)',
  ],
  ['one has completed', { pods: [withContainer({ state: { terminated: { exitCode: 0 } } })] }, undefined],
  [
    'an image cannot be pulled',
    {
      pods: [
        withContainer({
          state: { waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image "x": \n404' } },
        }),
      ],
    },
    'PodsFailing: pod p: container main: ImagePullBackOff: Back-off pulling image "x": 404; check the tag, imageRegistry and imagePullSecrets',
  ],
  [
    'the scheduler refuses one',
    {
      pods: [
        pod({ conditions: [unready, { type: 'PodScheduled', status: 'False', message: '0/3 nodes are available' }] }),
      ],
    },
    'PodsFailing: pod p: cannot be scheduled: 0/3 nodes are available',
  ],
  ['the volume of a young one is being made', { pods: [unboundFor(29)] }, undefined],
  [
    'the volume of one is not made in time',
    { pods: [unboundFor(30)] },
    `PodsFailing: pod p: cannot be scheduled: ${noVolume}`,
  ],
  [
    'admission refuses one',
    {
      deployments: [
        {
          apiVersion: 'apps/v1',
          kind: Deployment.kind,
          metadata: { name: 'd' },
          status: { conditions: [{ type: 'ReplicaFailure', status: 'True', message: 'exceeded quota: pods' }] },
        },
      ],
    },
    'PodsFailing: Deployment d: exceeded quota: pods',
  ],
  [
    'a volume cannot grow',
    { claims: [claim({ conditions: [{ type: 'NodeResizeError', status: 'True', message: 'resize2fs failed' }] })] },
    'PodsFailing: volume claim data-p: resize2fs failed',
  ],
  [
    'a volume is lost',
    { claims: [claim({ phase: 'Lost' })] },
    'PodsFailing: volume claim data-p: its volume no longer exists',
  ],
  ['a volume grows', { claims: [claim({ conditions: [{ type: 'Resizing', status: 'True' }] })] }, undefined],
  [
    'the containers of one are late',
    { pods: [withContainer({ state: creating })] },
    'WaitingForPods: pod p: its containers are not created: the events of the pod name the volume or network that is missing',
  ],
  ['one is new', { pods: [withContainer({ state: creating }, { creationTimestamp: ago(5) })] }, undefined],
  [
    'a failing one is being deleted',
    { pods: [withContainer({ state: { terminated: ended } }, { deletionTimestamp: ago(1) })] },
    undefined,
  ],
  [
    'one was evicted',
    { pods: [pod({ phase: 'Failed', containerStatuses: [{ name: 'main', state: { terminated: ended } }] })] },
    undefined,
  ],
  [
    'several fail alike',
    { pods: ['p', 'q', 'r'].map((name) => withContainer({ state: { terminated: ended } }, { name })) },
    'PodsFailing: pod p and 2 more: container main ended with exit code 1: unknown flag: --v',
  ],
  [
    'several fail differently',
    {
      pods: ['p', 'q', 'r', 's', 't'].map((name, index) =>
        withContainer({ state: { terminated: { exitCode: index + 1 } } }, { name }),
      ),
    },
    'PodsFailing: pod p: container main ended with exit code 1; pod q: container main ended with exit code 2; pod r: container main ended with exit code 3; and 2 more problems',
  ],
])('pods have this podProblem when %s', (_, observed, expected) => {
  const podProblem = findPodProblem({ pods: [], now, ...observed });
  expect(podProblem && `${podProblem.reason}: ${podProblem.message}`).toBe(expected);
});

it('takes at most 1 KiB, however much pods say', () => {
  const long = (index: number) => ({ exitCode: index + 1, message: `${index}ü`.repeat(2000).replaceAll('üü', '\n') });
  const pods = [0, 1, 2].map((index) =>
    pod({
      containerStatuses: ['a', 'b', 'c'].map((name) => ({ name, state: { terminated: long(index) } })),
    }),
  );
  const { message = '' } = findPodProblem({ pods, now }) ?? {};
  expect(Buffer.byteLength(message)).toBeLessThanOrEqual(1024);
  expect(Buffer.byteLength(message)).toBeGreaterThan(900);
});

it.each<[string, readonly PodObject[], number | undefined]>([
  ['there are no pods', [], undefined],
  [
    'the containers of one are being created',
    [withContainer({ state: creating }, { creationTimestamp: ago(10) })],
    20_000,
  ],
  [
    'two are being created, the older one first',
    [10, 25].map((age) => withContainer({ state: creating }, { creationTimestamp: ago(age) })),
    5_000,
  ],
  ['they are late already', [withContainer({ state: creating })], undefined],
  [
    'they have run',
    [withContainer({ state: crashLoop, lastState: { terminated: ended } }, { creationTimestamp: ago(10) })],
    undefined,
  ],
])('a reconcile is due when the containers of pods become late: %s', (_, pods, expected) => {
  expect(untilLateMs({ pods, now })).toBe(expected);
});
