import { expect, it } from 'vitest';
import { etcdFormedAnnotation } from '../../../../constructs/api/group.ts';
import { PersistentVolumeClaim } from '../../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../../constructs/cluster/labels.ts';
import { holdsEarlierData, wasEtcdFormed } from '../../../../reconciler/backup/restore/earlier-data.ts';
import { volumeMark } from '../../../../reconciler/etcd/volume-mark.ts';
import { restoredAnnotations } from '../../../../reconciler/backup/restore/observe-restore.ts';
import { restoreOf } from '../../../../reconciler/backup/restore/request.ts';
import { MemoryObjects } from '../../../support/memory-objects.ts';
import { clusterName, type ScopeChanges, scopeOf } from '../../../support/scope.ts';

const created = '2026-11-21T12:00:00Z';
const earlier = '2026-11-21T11:59:59Z';

interface Case {
  /** When its only volume claim was created. */
  readonly claim?: string;
  readonly isMarked?: boolean;
  /** The requests that it has completed. */
  readonly restored?: string;
  readonly changes?: ScopeChanges;
  readonly wasFormed: boolean;
  readonly holdsEarlier: boolean;
}

it.each<[string, Case]>([
  ['nothing exists', { wasFormed: false, holdsEarlier: false }],
  ['a claim is new', { claim: created, isMarked: false, wasFormed: false, holdsEarlier: false }],
  ['a claim is older and was never used', { claim: earlier, isMarked: false, wasFormed: false, holdsEarlier: false }],
  ['a claim of the same second is used', { claim: created, wasFormed: true, holdsEarlier: false }],
  ['a used claim is older', { claim: earlier, wasFormed: true, holdsEarlier: true }],
  [
    'a restore replaces the data of an older claim',
    {
      claim: earlier,
      changes: {
        spec: {
          etcd: { replicas: 3, restore: { latest: true }, backup: { schedule: '@daily', secret: { name: 's3' } } },
        },
      },
      wasFormed: true,
      holdsEarlier: false,
    },
  ],
  [
    'a restore has replaced the data of an older claim already',
    {
      claim: earlier,
      restored: restoreOf({ latest: true }, { namespace: 'team', cluster: clusterName }).id,
      changes: {
        spec: {
          etcd: { replicas: 3, restore: { latest: true }, backup: { schedule: '@daily', secret: { name: 's3' } } },
        },
      },
      wasFormed: true,
      holdsEarlier: true,
    },
  ],
  [
    'only the status is left',
    { changes: { status: { etcd: { clusterID: '1267' } } }, wasFormed: true, holdsEarlier: false },
  ],
  [
    'only the annotation is left',
    { changes: { annotations: { [etcdFormedAnnotation]: '' } }, wasFormed: true, holdsEarlier: false },
  ],
])(
  'what is known of the data of etcd when %s',
  (_, { claim, isMarked = true, restored = '', changes, wasFormed, holdsEarlier }) => {
    const management = new MemoryObjects();
    const { apiVersion, kind } = PersistentVolumeClaim;
    const annotations = isMarked
      ? { ...volumeMark('1', { isReserved: false }), [restoredAnnotations.restore]: restored }
      : {};
    const labels = selectorLabels(clusterName, 'etcd');
    const metadata = { name: 'etcd-data-c1-etcd-0', labels, annotations, creationTimestamp: claim };
    if (claim !== undefined) management.put({ apiVersion, kind, metadata });
    const scope = scopeOf(management, changes);
    const { metadata: own } = scope.hostedControlPlane;
    const hostedControlPlane = { ...scope.hostedControlPlane, metadata: { ...own, creationTimestamp: created } };
    expect(wasEtcdFormed({ ...scope, hostedControlPlane })).toBe(wasFormed);
    expect(holdsEarlierData({ ...scope, hostedControlPlane })).toBe(holdsEarlier);
  },
);
