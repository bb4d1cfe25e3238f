import { describe, expect, it } from 'vitest';
import { ConfigMap } from '../../../constructs/api/resources.ts';
import { renderControlPlane } from '../../../constructs/control-plane/chart.ts';
import { memberFacts, type MemberFactsInput, writtenStarts } from '../../../reconciler/etcd/etcd-facts.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { hostedCluster } from '../../support/scope.ts';
import { learner, observed, silent, stopped, vacant } from './observed.ts';

const cluster = hostedCluster();
const peer = (ordinal: number) => `c1-etcd-${ordinal}=https://c1-etcd-${ordinal}.e-c1-etcd.team.svc:2380`;
const founded = (count: number) => {
  const all = Array.from({ length: count }, (_, ordinal) => peer(ordinal)).join(',');
  return Array.from({ length: count }, () => ({ state: 'new', initialCluster: all }));
};
const alone = (count: number) =>
  Array.from({ length: count }, (_, ordinal) => ({ state: 'existing', initialCluster: peer(ordinal) }));
const empty = observed(3, { 0: vacant, 1: vacant, 2: vacant }).members;
const marked = observed(3).members;
const unmarked = { claim: { memberId: undefined, isLost: false } };

const cases: readonly [when: string, input: Partial<MemberFactsInput>, expected: object][] = [
  ['nothing exists', {}, { isFormed: false, pods: 3, initialClusters: {} }],
  [
    'the replica count changes before the members have formed a cluster',
    { replicas: 5, written: founded(3) },
    { isFormed: false, pods: 3, initialClusters: {} },
  ],
  [
    'a quorum answers for the first time',
    { observation: observed(3, { 0: unmarked, 1: unmarked, 2: unmarked }), written: founded(3) },
    { isFormed: true, pods: 3, initialClusters: {} },
  ],
  [
    'a founding member is slow',
    { observation: observed(3, { 0: unmarked, 1: unmarked, 2: { ...silent, ...unmarked } }), written: founded(3) },
    { isFormed: true, pods: 3, initialClusters: { 2: all(3) }, founders: [2] },
  ],
  [
    'a founding member is slow, and no quorum answers any more',
    { members: marked.slice(0, 2), written: [...alone(2), ...founded(3).slice(2)] },
    { isFormed: true, pods: 3, initialClusters: { 2: all(3) }, founders: [2] },
  ],
  [
    'the volumes are marked, and no configuration file says yet that they are',
    { members: marked, written: founded(3) },
    { isFormed: true, pods: 3, initialClusters: { 0: all(3), 1: all(3), 2: all(3) } },
  ],
  [
    'a member is added in the place of a founding member',
    {
      observation: observed(3, { 2: { ...stopped, ...added(2) } }),
      written: [...alone(2), ...founded(3).slice(2)],
    },
    { isFormed: true, pods: 3, initialClusters: { 2: all(3) }, founders: [] },
  ],
  [
    'a founding member is slow and its volume is reserved for it',
    { observation: observed(3, { 2: { ...silent, claim: { memberId: '3', isLost: false, isReserved: true } } }) },
    { isFormed: true, pods: 3, initialClusters: { 2: all(3) } },
  ],
  [
    'an existing member does not answer',
    { observation: observed(3, { 2: silent }) },
    { isFormed: true, pods: 3, initialClusters: {} },
  ],
  [
    'a new claim replaces that of another member',
    { observation: observed(3, { 2: { ...stopped, ...unmarked } }) },
    { isFormed: true, pods: 3, initialClusters: {} },
  ],
  [
    'the spec requests more members than were added',
    { replicas: 3, observation: observed(3, { 1: vacant, 2: vacant }) },
    { isFormed: true, pods: 1, initialClusters: {} },
  ],
  [
    'a learner was added',
    { observation: observed(3, { 1: { ...stopped, ...added(1) }, 2: vacant }) },
    { isFormed: true, pods: 2, initialClusters: { 1: all(2) } },
  ],
  [
    'the spec requests fewer members than exist',
    { replicas: 1, observation: observed(3) },
    { isFormed: true, pods: 3, initialClusters: {} },
  ],
  [
    'no quorum answers',
    { members: marked, observation: observed(3, {}, { membership: 'unconfirmed' }), written: alone(3) },
    { isFormed: true, pods: 3, initialClusters: {} },
  ],
  [
    'the members were not observed since a learner was added',
    { members: marked.slice(0, 1), written: [...alone(1), { state: 'existing', initialCluster: all(2) }] },
    { isFormed: true, pods: 2, initialClusters: { 1: all(2) } },
  ],
  ['only volumes are left', { replicas: 1, members: marked }, { isFormed: true, pods: 3, initialClusters: {} }],
  ['only the status is left', { isRecorded: true }, { isFormed: true, pods: 3, initialClusters: {} }],
  [
    'only the configuration files are left',
    { members: empty, written: alone(3) },
    { isFormed: true, pods: 3, initialClusters: {} },
  ],
];

describe('the initial cluster and state of etcd members', () => {
  it.each(cases)('when %s', (_, input, expected) => {
    const none = { isRecorded: false, members: [], observation: undefined, written: [] };
    const facts = memberFacts({ cluster, replicas: 3, ...none, ...input });
    expect(named(facts)).toEqual(named({ founders: [], ...expected }));
  });
});

it('the initial clusters are read back from the configuration files', () => {
  const management = new MemoryObjects();
  expect(writtenStarts('c1', management)).toEqual([]);
  const rendered = renderControlPlane(cluster, { certificates: {}, mounts: {} }, 'etcd');
  for (const object of rendered) if (object.kind === ConfigMap.kind) management.put(object);
  expect(writtenStarts('c1', management)).toEqual(founded(3));
});

function all(count: number): string {
  return Array.from({ length: count }, (_, ordinal) => peer(ordinal)).join(',');
}

function added(ordinal: number) {
  const { registration } = learner(ordinal);
  return { ...(registration ? { registration: { ...registration, name: '' } } : {}), ...unmarked };
}

/** Observed members have their own names, independent of the cluster's. */
function named(facts: object): unknown {
  return JSON.parse(
    JSON.stringify(facts).replaceAll(/etcd-(\d)=https:\/\/etcd-\d:2380/g, (_, ordinal: string) =>
      peer(Number(ordinal)),
    ),
  );
}
