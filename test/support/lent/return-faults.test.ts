import { expect, test } from 'vitest';
import { type LentState, patchTo, returnFaults } from './return-faults.ts';

const birth: LentState = {
  spec: { version: 'v1.37.1', etcd: { replicas: 1 } },
  clusterSpec: { controlPlaneEndpoint: { host: '10.0.0.1', port: 6443 } },
  annotations: ['formed'],
  records: [],
  wrong: [],
  management: ['Secret c1-ca', 'Deployment c1-api-server'],
  hosted: ['ConfigMap kube-system/coredns', 'Node w1'],
  pods: [{ name: 'c1-etcd-0', uid: '1', restarts: 0 }],
};
/** What the borrower before left of the pods. */
const lent: LentState = { ...birth, pods: [{ name: 'c1-etcd-0', uid: '2', restarts: 1 }] };

test('a control plane that is as it was lent is clean', () => {
  expect(returnFaults({ birth, lent, restartsPods: false }, lent)).toEqual([]);
});

const dirty: readonly [what: string, Partial<LentState>, expected: RegExp][] = [
  ['a field is left', { spec: { ...birth.spec, coredns: {} } }, /^its spec has changed: {"coredns":null} undoes it$/],
  ['a field is lost', { spec: { version: 'v1.37.1' } }, /^its spec has changed: {"etcd":{"replicas":1}}/],
  ['a field has another value', { spec: { ...birth.spec, etcd: { replicas: 3 } } }, /{"etcd":{"replicas":1}}/],
  ['its Cluster is paused', { clusterSpec: { ...birth.clusterSpec, paused: true } }, /Cluster .*{"paused":null}/],
  ['a request is left', { annotations: ['formed', 'backup'] }, /^annotation backup was not there$/],
  ['a record is lost', { annotations: [] }, /^annotation formed is gone$/],
  ['a record is left', { records: ['backup'] }, /^record status\.etcd\.backup was not there$/],
  ['it is not Ready', { wrong: ['Ready is False: PodsFailing'] }, /^Ready is False: PodsFailing$/],
  [
    'a Secret is left beside it',
    { management: [...birth.management, 'Secret s3'] },
    /^in the management cluster: Secret s3 was not there$/,
  ],
  ['one of its Secrets is lost', { management: ['Deployment c1-api-server'] }, /Secret c1-ca is gone$/],
  [
    'an object is left inside it',
    { hosted: [...birth.hosted, 'ConfigMap default/written'] },
    /^in the hosted cluster: ConfigMap default\/written was not there$/,
  ],
  ['a worker is lost', { hosted: ['ConfigMap kube-system/coredns'] }, /^in the hosted cluster: Node w1 is gone$/],
  ['a pod is another one', { pods: [{ name: 'c1-etcd-0', uid: '3', restarts: 0 }] }, /^pod c1-etcd-0 was replaced/],
  ['a pod is gone', { pods: [] }, /^pod c1-etcd-0 was replaced/],
  [
    'a container was restarted',
    { pods: [{ name: 'c1-etcd-0', uid: '2', restarts: 2 }] },
    /^a container of pod c1-etcd-0 was restarted$/,
  ],
];
test.each(dirty)('it is dirty when %s', (_, change, expected) => {
  expect(returnFaults({ birth, lent, restartsPods: false }, { ...lent, ...change })).toEqual([
    expect.stringMatching(expected),
  ]);
});

test('who declares restarts may restart every pod, and nothing else', () => {
  const pods = [{ name: 'c1-etcd-0', uid: '4', restarts: 0 }];
  expect(returnFaults({ birth, lent, restartsPods: true }, { ...lent, pods })).toEqual([]);
  expect(returnFaults({ birth, lent, restartsPods: true }, { ...lent, pods, annotations: [] })).toHaveLength(1);
});

test('each fault is named', () => {
  const now: LentState = { ...lent, wrong: ['Ready is False', 'Paused is True'], hosted: [], pods: [] };
  expect(returnFaults({ birth, lent, restartsPods: false }, now)).toHaveLength(5);
});

test.each([
  [{}, {}, {}],
  [{ a: 1, b: { c: 1, d: 2 } }, { a: 1, b: { c: 1 } }, { b: { d: null } }],
  [{ a: [1, 2] }, { a: [1] }, { a: [1] }],
  [{ a: { b: 1 } }, { a: [1] }, { a: [1] }],
  [{}, { a: { b: 1 } }, { a: { b: 1 } }],
  [{ a: { b: 1 } }, {}, { a: null }],
])('the patch of %j to %j is %j', (from, to, expected) => {
  expect(patchTo(from, to)).toEqual(expected);
});
