import { expect, it } from 'vitest';
import { Pod } from '../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import { waitForPods } from '../../../reconciler/pods/wait-for-pods.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { clusterOf } from '../../support/rendered-cluster.ts';

const now = new Date('2026-11-23T12:00:00Z');

it('asks again when containers that are being created become late, which no event reports', () => {
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
  expect(
    waitForPods('scheduler', { message: 'the scheduler is not ready' }, { cluster: clusterOf(), reader, now }),
  ).toMatchObject({
    reason: 'WaitingForPods',
    message: 'the scheduler is not ready',
    afterMs: 20_000,
  });
});
