import type { PodObject } from '../../../../imports/kubernetes.ts';
import { describe, expect, it } from 'vitest';
import { verificationPodState } from '../../../../reconciler/backup/verify/verification-pod.ts';

const running = { running: {} };
const ended = { terminated: { exitCode: 0, reason: 'Completed' } };
const failed = (message = '') => ({ terminated: { exitCode: 1, reason: 'Error', message } });
const waiting = { waiting: { reason: 'PodInitializing' } };

type State = NonNullable<NonNullable<PodObject['status']>['containerStatuses']>[number]['state'];

function pod([receive, restore, etcd]: readonly State[], status: PodObject['status'] = {}): PodObject {
  const step = (name: string, state: State) => (state ? [{ name, state }] : []);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'c1-etcd-verify' },
    status: {
      podIP: '10.0.0.7',
      initContainerStatuses: [...step('receive', receive), ...step('restore', restore)],
      containerStatuses: step('etcd', etcd),
      ...status,
    },
  };
}

describe('the pod of a verification', () => {
  it.each([
    ['is starting if its state is unknown', pod([], { podIP: '' }), { kind: 'starting', message: 'not started yet' }],
    [
      'reports why it is not scheduled',
      pod([], { conditions: [{ type: 'PodScheduled', status: 'False', message: '0/1 nodes are available' }] }),
      { kind: 'starting', message: '0/1 nodes are available' },
    ],
    [
      'reports an image that cannot be pulled',
      pod([{ waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image "x"' } }, waiting, waiting]),
      { kind: 'starting', message: 'Back-off pulling image "x"' },
    ],
    ['receives', pod([running, waiting, waiting]), { kind: 'receiving', address: '10.0.0.7' }],
    ['restores', pod([ended, running, waiting]), { kind: 'restoring' }],
    ['is between two steps', pod([ended, ended, waiting]), { kind: 'starting' }],
    ['has started etcd', pod([ended, ended, running]), { kind: 'started', address: '10.0.0.7' }],
    [
      'failed to restore, with the last line as the message',
      pod([ended, failed('info: x\nError: invalid database\n'), waiting]),
      { kind: 'failed', step: 'restore', exitCode: 1, message: 'Error, exit code 1: Error: invalid database' },
    ],
    ['failed if etcd exited with 0', pod([ended, ended, ended]), { kind: 'failed', step: 'etcd' }],
    [
      'was terminated as a whole',
      pod([ended, failed(), waiting], { phase: 'Failed', reason: 'Evicted', message: 'emptyDir exceeds the limit' }),
      { kind: 'failed', step: undefined, message: 'Evicted: emptyDir exceeds the limit' },
    ],
  ])('%s', (_, found, expected) => expect(verificationPodState(found)).toMatchObject(expected));
});
