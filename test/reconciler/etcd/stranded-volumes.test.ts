import { expect, it } from 'vitest';
import { Node, PersistentVolume, PersistentVolumeClaim, Pod } from '../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import { knownMembers, watchedMemberObjects, strandedClaims } from '../../../reconciler/etcd/member-objects.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { clusterName, namespace } from '../../support/scope.ts';

const cluster = { name: clusterName, namespace };
const labels = selectorLabels(clusterName, 'etcd');
const hostLabel = 'kubernetes.io/hostname';
const on = (key: string, ...values: string[]) => ({ matchExpressions: [{ key, operator: 'In', values }] });

interface Case {
  readonly terms: readonly object[];
  readonly scheduled: 'True' | 'False';
  readonly isLost: boolean;
}

const cases: readonly [when: string, Case][] = [
  ['its node is gone', { terms: [on(hostLabel, 'gone')], scheduled: 'False', isLost: true }],
  ['its node exists', { terms: [on(hostLabel, 'here')], scheduled: 'False', isLost: false }],
  [
    'one of its nodes exists',
    { terms: [on(hostLabel, 'gone'), on(hostLabel, 'here')], scheduled: 'False', isLost: false },
  ],
  ['it may be anywhere in a zone', { terms: [on('zone', 'z')], scheduled: 'False', isLost: false }],
  ['it may be anywhere', { terms: [], scheduled: 'False', isLost: false }],
  ['its pod has a node', { terms: [on(hostLabel, 'gone')], scheduled: 'True', isLost: false }],
];

it.each(cases)('a volume counts as lost only if its nodes are gone: %s', async (_, { terms, scheduled, isLost }) => {
  const management = new MemoryObjects();
  const { apiVersion } = Pod;
  management.put({ apiVersion, kind: Node.kind, metadata: { name: 'node-1', labels: { [hostLabel]: 'here' } } });
  management.put({
    apiVersion,
    kind: Pod.kind,
    metadata: { name: 'c1-etcd-0', labels },
    status: { conditions: [{ type: 'PodScheduled', status: scheduled }] },
  });
  management.put({
    apiVersion,
    kind: PersistentVolumeClaim.kind,
    metadata: { name: 'etcd-data-c1-etcd-0', labels },
    spec: { volumeName: 'volume-0' },
  });
  management.put({
    apiVersion,
    kind: PersistentVolume.kind,
    metadata: { name: 'volume-0' },
    spec: { nodeAffinity: { required: { nodeSelectorTerms: terms } } },
  });
  const objects = watchedMemberObjects(cluster, management);
  const [member] = knownMembers(cluster, objects, await strandedClaims(objects, management));
  expect(member?.claim?.isLost).toBe(isLost);
});
