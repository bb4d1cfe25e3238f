import { expect, it } from 'vitest';
import { Pod } from '../../../../constructs/api/resources.ts';
import { waitForTermination } from '../../../../reconciler/clusters/pods/termination.ts';
import { MemoryObjects } from '../../../support/memory-objects.ts';
import { selectorLabels } from '../../../../constructs/cluster/labels.ts';
import { now } from '../../../support/scope.ts';

const ago = (seconds: number): string => new Date(now.getTime() - seconds * 1000).toISOString();
const taint = 'node.kubernetes.io/out-of-service=nodeshutdown:NoExecute';
const waiting = 'waiting for the termination of c1-etcd-0';
const silent = `${waiting}; pod c1-etcd-0: stays Terminating, because node n7 does not confirm its end: if that node is off for good, give it the taint ${taint}, or delete the Node`;

it.each<[when: string, deletionTimestamp: string | undefined, message: string, afterMs: number | undefined]>([
  ['has not begun', undefined, waiting, undefined],
  ['lasts', ago(10), waiting, 20_000],
  ['is not confirmed by its node', ago(30), silent, undefined],
])('a wait for the end of a pod that %s', (_, deletionTimestamp, message, afterMs) => {
  const reader = new MemoryObjects();
  const deleted = deletionTimestamp === undefined ? {} : { deletionTimestamp };
  reader.put({
    apiVersion: Pod.apiVersion,
    kind: Pod.kind,
    metadata: { name: 'c1-etcd-0', labels: selectorLabels('c1', 'etcd'), ...deleted },
    spec: { nodeName: 'n7' },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  });
  expect(waitForTermination('StoppingMembers', ['c1-etcd-0'], { reader, now })).toMatchObject({
    kind: 'wait',
    reason: 'StoppingMembers',
    message,
    afterMs,
  });
});

it('is the same message, in whatever order a cache has the pods', () => {
  const reader = new MemoryObjects();
  const wait = (names: readonly string[]) => waitForTermination('StoppingMembers', names, { reader, now });
  expect(wait(['c1-etcd-1', 'c1-etcd-0'])).toEqual(wait(['c1-etcd-0', 'c1-etcd-1']));
});
