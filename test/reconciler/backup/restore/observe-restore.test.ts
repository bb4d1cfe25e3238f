import type { PodObject } from '../../../../imports/kubernetes.ts';
import { expect, it } from 'vitest';
import { problemOf } from '../../../../reconciler/backup/restore/observe-restore.ts';

const pod = (status: NonNullable<PodObject['status']>): PodObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'c1-etcd-restore-0' },
  status,
});
const step = (state: object) => [{ name: 'receive', state }];

it.each<[string, PodObject, string | undefined]>([
  ['nothing', pod({ phase: 'Running', initContainerStatuses: step({ running: {} }) }), undefined],
  [
    'a step that failed, without secrets',
    pod({
      initContainerStatuses: step({ terminated: { exitCode: 1, message: 'start\nError: token=abc is refused\n' } }),
    }),
    'receive failed: token=[removed] is refused',
  ],
  [
    'an image that cannot be pulled',
    pod({ initContainerStatuses: step({ waiting: { reason: 'ImagePullBackOff', message: 'Back-off\npulling x' } }) }),
    'receive: Back-off pulling x',
  ],
  ['an eviction', pod({ phase: 'Failed', message: 'the node was low on memory' }), 'the node was low on memory'],
  [
    'a refusal of the scheduler',
    pod({ conditions: [{ type: 'PodScheduled', status: 'False', message: '0/1 nodes are available' }] }),
    '0/1 nodes are available',
  ],
])('a restore pod reports %s', (_, restorePod, expected) => {
  expect(problemOf(restorePod)).toBe(expected);
});
