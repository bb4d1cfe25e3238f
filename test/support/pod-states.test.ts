import { describe, expect, it } from 'vitest';
import { crashesIn, type PodInState, podStates, type WarningEvent } from './pod-states.ts';

const pod = (name: string, status: object): PodInState => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  status,
});
const container = (state: object, more: object = {}) => ({
  name: 'etcd',
  ready: false,
  restartCount: 0,
  image: '',
  imageID: '',
  state,
  ...more,
});
const warning = (kind: string, name: string, reason: string, note: string, type = 'Warning'): WarningEvent => ({
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  metadata: { name: `${name}.${note}` },
  type,
  reason,
  note,
  regarding: { kind, name },
});

const ready = pod('well', { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] });
const done = pod('done', { phase: 'Succeeded', conditions: [{ type: 'Ready', status: 'False' }] });

describe('the pod states after a failed wait', () => {
  it.each<[string, object, string[]]>([
    [
      'cannot be scheduled',
      {
        phase: 'Pending',
        conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/1 nodes' }],
      },
      ['Pod p: Pending, Unschedulable: 0/1 nodes'],
    ],
    [
      'were evicted',
      { phase: 'Failed', reason: 'Evicted', message: 'low on memory' },
      ['Pod p: Failed, Evicted: low on memory'],
    ],
    [
      'wait for what their containers need',
      { phase: 'Pending', containerStatuses: [container({ waiting: { reason: 'ContainerCreating' } })] },
      ['Pod p: Pending', '  etcd: waits, ContainerCreating'],
    ],
    [
      'end with a fatal line of etcd',
      {
        phase: 'Running',
        containerStatuses: [
          container({
            terminated: {
              exitCode: 1,
              message: `{"level":"fatal","error":"no \\"peers\\"","stacktrace":"main.main\\n\\tat \\"etcd\\"${'x'.repeat(400)}"}`,
            },
          }),
        ],
      },
      ['Pod p: Running', '  etcd: ended with 1: {"level":"fatal","error":"no \\"peers\\""}'],
    ],
    [
      'crash repeatedly',
      {
        phase: 'Running',
        containerStatuses: [
          container(
            { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s' } },
            { restartCount: 3, lastState: { terminated: { exitCode: 1, reason: 'Error', message: 'no such flag\n' } } },
          ),
        ],
      },
      [
        'Pod p: Running',
        '  etcd: waits, CrashLoopBackOff: back-off 10s, restarts: 3; before it ended with 1 (Error): no such flag',
      ],
    ],
    [
      'have terminated',
      { phase: 'Failed', containerStatuses: [container({ terminated: { exitCode: 137, reason: 'OOMKilled' } })] },
      ['Pod p: Failed', '  etcd: ended with 137 (OOMKilled)'],
    ],
    [
      'run but are not ready',
      {
        phase: 'Running',
        containerStatuses: [container({ running: {} }), container({ running: {} }, { ready: true })],
      },
      ['Pod p: Running', '  etcd: runs and is not ready'],
    ],
    [
      'run their second init container',
      {
        phase: 'Pending',
        initContainerStatuses: [
          container({ terminated: { exitCode: 0 } }, { name: 'first' }),
          container({ running: {} }, { name: 'second' }),
        ],
      },
      ['Pod p: Pending', '  second: runs and is not ready'],
    ],
  ])('include pods that %s', (_, status, lines) => {
    expect(podStates([ready, pod('p', status), done])).toEqual(lines);
  });

  it('include pods that are being deleted', () => {
    const going = { ...pod('p', { phase: 'Running' }), metadata: { name: 'p', deletionTimestamp: 'now' } };
    expect(podStates([going])).toEqual(['Pod p: Running, is being deleted']);
  });

  it("include the end of a container's message, not a whole log", () => {
    const message = Array.from({ length: 100 }, (_, line) => `line ${line} ${'x'.repeat(100)}`).join('\n');
    const [, line = ''] = podStates([
      pod('p', { phase: 'Failed', containerStatuses: [container({ terminated: { exitCode: 1, message } })] }),
    ]);
    expect(line.length).toBeLessThan(400);
    expect(line).toContain('line 99');
  });

  it('include each warning about a pod once, because only an event reports that a volume cannot be mounted', () => {
    const note = 'MountVolume.SetUp failed for volume "pki": references non-existent secret key: ca.crt';
    const events = [
      warning('Pod', 'p', 'FailedMount', note),
      warning('Pod', 'p', 'FailedMount', note),
      warning('Pod', 'p', 'Pulled', 'image is there', 'Normal'),
      warning('Pod', 'well', 'Unhealthy', 'some time ago'),
    ];
    expect(podStates([ready, pod('p', { phase: 'Pending' })], events)).toEqual([
      'Pod p: Pending',
      `  FailedMount: ${note}`,
    ]);
  });

  it('include warnings about volume claims that a pod waits for', () => {
    const events = [warning('PersistentVolumeClaim', 'data', 'ProvisioningFailed', 'the disk is full')];
    expect(podStates([pod('p', { phase: 'Pending' })], events)).toEqual([
      'Pod p: Pending',
      'PersistentVolumeClaim data: ProvisioningFailed: the disk is full',
    ]);
  });

  it('report that there are no pods or that all pods are ready', () => {
    expect(podStates([])).toEqual(['there are no pods']);
    expect(podStates([ready])).toEqual(['all 1 pods are ready']);
  });
});

describe('crashes', () => {
  const endedWith = (terminated: object) =>
    pod('p', { containerStatuses: [container({ running: {} }, { lastState: { terminated } })] });

  it('are the containers that ended by themselves', () => {
    const crashed = endedWith({ exitCode: 1, reason: 'Error', message: 'no such flag' });
    expect(crashesIn([ready, crashed])).toEqual(['p etcd, restarts: 0, ended with 1 (Error): no such flag']);
  });

  it.each([
    ['obeyed a signal', { exitCode: 143 }],
    ['were killed', { exitCode: 137, reason: 'Error' }],
    ['lost their Lease on a busy machine', { exitCode: 1, message: 'E1128 server.go:1] "leaderelection lost"' }],
  ])('are not those that %s', (_, terminated) => {
    expect(crashesIn([endedWith(terminated)])).toEqual([]);
  });
});
