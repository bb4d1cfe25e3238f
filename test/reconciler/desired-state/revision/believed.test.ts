import { expect, it } from 'vitest';
import type { RevisionFacts } from '../../../../constructs/cluster/facts.ts';
import { releaseOf } from '../../../../constructs/cluster/release-revisions.ts';
import { renderControlPlane } from '../../../../constructs/control-plane/chart.ts';
import { type RecordedRevisions, reported } from '../../../../reconciler/desired-state/revision/believed.ts';
import { revisionsAmong } from '../../../../reconciler/desired-state/revision/revisions.ts';
import { knownFacts } from '../../../support/rendered-cluster.ts';
import {
  clusterName,
  hostedCluster,
  hostedControlPlaneName,
  hostedControlPlaneUid as uid,
} from '../../../support/scope.ts';

const release = releaseOf(36);
const written: RevisionFacts = { number: 3, generation: 7, spec: '{"version":"v1.36.3"}', release };
const forgedSpec = '{"version":"v1.36.3","deployment":{"apiServer":{"image":{"registry":"evil.example.org"}}}}';

/** The ConfigMap of a record, as the operator writes it for the object with this uid. */
function record(revision: RevisionFacts, owner = uid, data: Readonly<Record<string, string>> = {}) {
  const facts = { ...knownFacts, owner: { name: hostedControlPlaneName, uid: owner }, revisions: [revision] };
  const [object] = renderControlPlane(hostedCluster(), facts, 'revision');
  if (!object) throw new Error('no record is rendered');
  const { data: content } = object as unknown as { readonly data: Readonly<Record<string, string>> };
  return { ...object, data: { ...content, ...data } };
}

const read = (objects: Parameters<typeof revisionsAmong>[0], status?: unknown): RecordedRevisions =>
  revisionsAmong(objects, { metadata: { uid }, status }, clusterName);
const status = { externalManagedControlPlane: true, revisions: reported([written]) };

it('a record is believed that the object controls, with the digest that its status has', () => {
  expect(read([record(written)], status)).toEqual({ newest: written, served: undefined });
});

it.each<[string, ReturnType<typeof record>]>([
  ['without an owner', { ...record({ ...written, number: 1000 }), metadata: { name: 'c1-revision-1000' } }],
  ['of another owner', record({ ...written, number: 1000, spec: forgedSpec }, 'uid-of-another')],
  ['with its owner and a number that the status does not have', record({ ...written, number: 1000, spec: forgedSpec })],
  ['that says it has served', record({ ...written, number: 1000, spec: forgedSpec }, uid, { served: 'true' })],
  ['that says the newest spec has failed', record({ ...written, number: 1001 }, uid, { failure: 'never ready' })],
])('a forged one %s changes nothing', (_, forged) => {
  expect(read([record(written), forged], status)).toEqual({ newest: written, served: undefined });
});

it.each<[string, Readonly<Record<string, string>>]>([
  ['another spec', { 'spec.json': forgedSpec }],
  ['another generation', { generation: '8' }],
  ['another release', { 'release.json': JSON.stringify(releaseOf(36, 1)) }],
  ['an image in the place of a version', { 'release.json': JSON.stringify(release).replace('3.6.8', 'x@sha256:0') }],
])('a record in which another client writes %s is not believed', (_, data) => {
  expect(read([record(written, uid, data)], status)).toEqual({ newest: undefined, served: undefined, isAltered: true });
});

it.each(['served', 'failure'])(
  'what became of a spec is not what another client writes into its record as %s',
  (key) => {
    expect(read([record(written, uid, { [key]: 'true' })], status).newest).toEqual(written);
  },
);

it('what became of a spec is what the status says', () => {
  const served = { ...written, number: 2, hasServed: true };
  const failed = { ...written, failure: 'x'.repeat(2000) };
  const revisions = reported([failed, served]);
  expect(revisions[0]?.failure?.length).toBeLessThanOrEqual(1024);
  expect(read([record(failed), record(served)], { revisions })).toEqual({
    newest: { ...written, failure: revisions[0]?.failure },
    served,
  });
});

it('records of an operator that put no digests into the status are believed with what they say became of them', () => {
  const before = { externalManagedControlPlane: true, releaseRevision: 3 };
  const objects = [
    record({ ...written, number: 2 }, uid, { served: 'true' }),
    record(written, uid, { failure: 'never ready' }),
    record({ ...written, number: 9 }, 'uid-of-another'),
  ];
  expect(read(objects, before)).toEqual({
    newest: { ...written, failure: 'never ready' },
    served: { ...written, number: 2, hasServed: true },
  });
});

it.each([undefined, {}, { observedGeneration: -1 }, { conditions: [] }])(
  'with the status %j, as after a move, no record is proven',
  (none) => {
    expect(read([record(written, uid, { served: 'true', failure: 'never ready' })], none)).toEqual({
      newest: undefined,
      served: undefined,
      unproven: [written],
    });
  },
);
