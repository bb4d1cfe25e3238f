import { expect, it } from 'vitest';
import { etcdFormedAnnotation } from '../../../../constructs/api/group.ts';
import { Pod } from '../../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../../constructs/cluster/labels.ts';
import { type Lived, observeLived } from '../../../../reconciler/desired-state/upgrade/lived.ts';
import type { EtcdObservation } from '../../../../reconciler/etcd/members.ts';
import { MemoryObjects } from '../../../support/memory-objects.ts';
import { clusterName, type ScopeChanges, scopeOf } from '../../../support/scope.ts';
import { observed, observedStatus, silent } from '../../etcd/observed.ts';

interface Seen {
  readonly changes?: ScopeChanges;
  /** The component with a pod, and whether that is ready. */
  readonly pod?: readonly [component: 'etcd' | 'api-server', ready: 'True' | 'False'];
  readonly etcd?: EtcdObservation;
}

const nothing: Lived = { etcd: false, apiServers: false };
const onlyEtcd: Lived = { etcd: true, apiServers: false };
const both: Lived = { etcd: true, apiServers: true };

const formed: ScopeChanges = { annotations: { [etcdFormedAnnotation]: '1267' } };
const hasRevision = (revision: number, change = {}) => ({ status: observedStatus(0, { revision, ...change }) });
const empty = observed(1, { 0: hasRevision(1) });

it.each<[string, Seen, Lived]>([
  ['before anything exists', {}, nothing],
  ['while no member has started', { pod: ['etcd', 'False'], etcd: observed(1, { 0: silent }) }, nothing],
  ['when a member is ready, whether the operator reaches it or not', { pod: ['etcd', 'True'] }, both],
  ['when a member answers with data', { etcd: observed(1) }, both],
  ['when etcd has formed, and is empty', { changes: formed, etcd: empty }, onlyEtcd],
  ['when an API server has not started on an empty etcd', { pod: ['api-server', 'False'], etcd: empty }, onlyEtcd],
  ['when an API server is ready on an empty etcd', { pod: ['api-server', 'True'], etcd: empty }, both],
  ['when only the annotation is left, as after a move', { changes: formed }, both],
  ['when only the status is left', { changes: { status: { etcd: { clusterID: '1267' } } } }, both],
  ['when the object was restored beside its data', { changes: formed, etcd: observed(1) }, both],
  ['when one of three members has data', { etcd: observed(3, { 0: hasRevision(1), 1: hasRevision(1) }) }, both],
  ['when no quorum says that etcd is empty', { etcd: { ...empty, membership: 'unconfirmed' } }, both],
  [
    'when the leader has not read all of its log',
    { etcd: observed(1, { 0: hasRevision(1, { raftIndex: 50_001 }) }) },
    both,
  ],
  ['while it is hibernated', { changes: { status: { version: 'v1.36.3' } } }, both],
  [
    'after its etcd has lost everything',
    { changes: { status: { versions: [{ version: 'v1.36.3', replicas: 1 }] } }, etcd: empty },
    both,
  ],
  [
    'when workers could join',
    { changes: { status: { initialization: { controlPlaneInitialized: true } } }, etcd: empty },
    both,
  ],
])('what has lived %s', (_, { changes, pod, etcd }, expected) => {
  const reader = new MemoryObjects();
  if (pod) {
    const [component, status] = pod;
    const { apiVersion, kind } = Pod;
    const metadata = { name: 'pod', labels: selectorLabels(clusterName, component) };
    reader.put({ apiVersion, kind, metadata, status: { conditions: [{ type: 'Ready', status }] } });
  }
  const scope = scopeOf(reader, changes);
  const report = etcd && { observation: etcd, decision: { kind: 'settled' } as const };
  expect(observeLived(scope, report)).toEqual(expected);
});
