import type { ClusterObject } from '../../../imports/cluster-api.ts';
import { expect, it } from 'vitest';
import { releaseOf } from '../../../constructs/cluster/release-revisions.ts';
import { maxClusterNameLength } from '../../../constructs/cluster/names.ts';
import {
  type Admitted,
  type Admission,
  admit,
  saidUnownedAt,
  withoutControlPlane,
} from '../../../reconciler/reconcile/admit.ts';
import type { RecordedRevisions } from '../../../reconciler/desired-state/revision/believed.ts';
import { specWith } from '../../constructs/api/admission-cases.ts';
import { argumentCases, valueCases } from '../../constructs/api/refused-values.ts';
import {
  type AnyObject,
  clusterObjectWith,
  hostedControlPlaneName,
  hostedControlPlaneObject,
  namespace,
  ownedByCluster,
  spec,
} from '../../support/scope.ts';

const cluster = clusterObjectWith();
const object = hostedControlPlaneObject();
const owned = (...ownerReferences: object[]) =>
  hostedControlPlaneObject({ metadata: { ownerReferences: ownerReferences as (typeof ownedByCluster)[] } });
const withVersion = (version: string) => hostedControlPlaneObject({ spec: { ...spec, version } });
const annotated = { annotations: { 'cluster.x-k8s.io/paused': '' } };
const deletionTimestamp = '2026-11-21T11:59:00Z';
const deleted = { deletionTimestamp };
const invalid = { version: 'v1.36.3', exposure: {} };
const fixedAddress = { controlPlaneEndpoint: { host: '192.0.2.10', port: 6443 } };
const behindGateway = { exposure: { gateway: { name: 'web', namespace: 'gateways' } } };
const longName = 'c'.repeat(maxClusterNameLength);
const shim = { apiVersion: 'v1', kind: 'Secret', name: 'c1-shim', uid: 'uid-of-the-shim' };

const release = releaseOf(36);
const none: RecordedRevisions = { newest: undefined, served: undefined };

function decide(
  hosted: AnyObject,
  found: ClusterObject | undefined,
  recorded = none,
  without: readonly ClusterObject[] = [],
): Admission {
  return admit(hosted, {
    findCluster: (ns, name) => (ns === namespace && name === found?.metadata.name ? found : undefined),
    findComponentTemplate: () => undefined,
    findWithoutControlPlane: () => without,
    findRevisions: () => recorded,
    chooseRelease: () => ({ release }),
  });
}

it.each<[string, AnyObject, ClusterObject | undefined, Partial<Admission>]>([
  ['a plain owner', object, cluster, { kind: 'admitted' }],
  ['a controlling owner', owned({ ...ownedByCluster, controller: true }), cluster, { kind: 'admitted' }],
  [
    'an owner of another API version',
    owned({ ...ownedByCluster, apiVersion: 'cluster.x-k8s.io/v1beta1' }),
    cluster,
    { kind: 'admitted' },
  ],
  ['other owners beside the Cluster', owned(shim, ownedByCluster), cluster, { kind: 'admitted' }],
  ['no owner', owned(), cluster, { kind: 'unowned', message: mentions(hostedControlPlaneName) }],
  ["only a topology's shim Secret as owner", owned(shim), cluster, { kind: 'unowned' }],
  [
    'a Cluster of another group as owner',
    owned({ ...ownedByCluster, apiVersion: 'other.io/v1' }),
    cluster,
    { kind: 'unowned' },
  ],
  [
    'another kind of Cluster API as owner',
    owned({ ...ownedByCluster, kind: 'MachinePool' }),
    cluster,
    { kind: 'unowned' },
  ],
  ['an owner that does not exist', object, undefined, { kind: 'unowned', message: mentions('Cluster c1') }],
  [
    'a Cluster that references another object',
    object,
    wanting('HostedControlPlane', 'other'),
    { kind: 'mismatch', message: mentions('HostedControlPlane other') },
  ],
  [
    'a Cluster that references another kind',
    object,
    wanting('KubeadmControlPlane', hostedControlPlaneName),
    { kind: 'mismatch' },
  ],
  [
    'a Cluster that references no control plane',
    object,
    clusterObjectWith({ spec: { controlPlaneRef: undefined } }),
    { kind: 'mismatch' },
  ],
  [
    'a paused Cluster',
    object,
    clusterObjectWith({ spec: { paused: true } }),
    { kind: 'paused', message: mentions('Cluster c1') },
  ],
  [
    'the annotation that pauses',
    hostedControlPlaneObject({ metadata: annotated }),
    cluster,
    { kind: 'paused', message: mentions('annotation') },
  ],
  [
    'a deletion while it is paused',
    hostedControlPlaneObject({ metadata: { ...annotated, ...deleted } }),
    cluster,
    { kind: 'paused' },
  ],
  [
    'a deletion',
    hostedControlPlaneObject({ metadata: deleted }),
    cluster,
    {
      kind: 'deleting',
      cluster: 'c1',
      clusterIsGone: false,
      attended: expect.objectContaining({ kind: 'admitted' }) as Admitted,
    },
  ],
  [
    'a deletion together with its Cluster',
    hostedControlPlaneObject({ metadata: deleted }),
    clusterObjectWith({ metadata: deleted }),
    { kind: 'deleting', clusterIsGone: false, attended: undefined },
  ],
  [
    'a deletion in the foreground',
    hostedControlPlaneObject({ metadata: { ...deleted, finalizers: ['foregroundDeletion'] } }),
    cluster,
    { kind: 'deleting', clusterIsGone: false, attended: undefined },
  ],
  [
    'a deletion after its Cluster is gone',
    hostedControlPlaneObject({ metadata: deleted }),
    undefined,
    { kind: 'deleting', cluster: 'c1', clusterIsGone: true },
  ],
  [
    'a deletion without any owner',
    hostedControlPlaneObject({ metadata: { ...deleted, ownerReferences: [] } }),
    cluster,
    { kind: 'deleting', cluster: undefined },
  ],
  [
    'a deletion of an invalid spec',
    hostedControlPlaneObject({ metadata: deleted, spec: invalid }),
    cluster,
    { kind: 'deleting', attended: undefined },
  ],
  [
    'an invalid spec',
    hostedControlPlaneObject({ spec: invalid }),
    cluster,
    { kind: 'invalid', message: mentions('spec') },
  ],
  [
    'a Cluster whose name has the maximum length',
    owned({ ...ownedByCluster, name: longName }),
    wanted(longName),
    { kind: 'admitted' },
  ],
  [
    'a Cluster whose name is too long',
    owned({ ...ownedByCluster, name: `${longName}x` }),
    wanted(`${longName}x`),
    { kind: 'invalid', message: mentions('shorter name') },
  ],
  [
    'a Cluster whose name has a dot, which Services have not',
    owned({ ...ownedByCluster, name: 'a.b' }),
    wanted('a.b'),
    { kind: 'invalid', message: mentions('the name of Cluster a.b has a dot') },
  ],
  ['a version without v', withVersion('1.36.3'), cluster, { kind: 'admitted' }],
  ['a version without patch', withVersion('v1.36'), cluster, { kind: 'admitted' }],
  [
    'a version that is too old',
    withVersion('v1.31.9'),
    cluster,
    { kind: 'invalid', message: mentions('use 1.32 to 1.37') },
  ],
  [
    'a version that is too new',
    withVersion('v1.38.0'),
    cluster,
    { kind: 'invalid', message: mentions('spec.version') },
  ],
  ['a version of another major', withVersion('v2.36.0'), cluster, { kind: 'invalid' }],
  [
    'backups in an unknown time zone',
    hostedControlPlaneObject({
      spec: { ...spec, etcd: { backup: { schedule: '@daily', secret: { name: 's' }, timeZone: 'Europe/Atlantis' } } },
    }),
    cluster,
    { kind: 'invalid', message: mentions('IANA time zone') },
  ],
])('admits or rejects an object with %s', (_, hosted, found, expected) => {
  expect(decide(hosted, found)).toMatchObject(expected);
});

it.each<[string, object, string]>([
  ['a version that is too new', { ...spec, version: 'v1.38.0' }, 'spec.version'],
  ['an exposure that contradicts the endpoint', { ...spec, ...fixedAddress, ...behindGateway }, 'spec.exposure'],
])('admits the last accepted spec of an object with %s, and says why the newest is refused', (_, refused, field) => {
  const accepted = { number: 4, generation: 7, release, spec: JSON.stringify({ ...spec, replicas: 1 }) };
  const object = hostedControlPlaneObject({ spec: refused });
  expect(decide(object, cluster, { newest: accepted, served: undefined })).toMatchObject({
    kind: 'admitted',
    hostedControlPlane: { spec: { version: spec.version, replicas: 1 } },
    refusal: { reason: 'InvalidConfiguration', message: mentions(field) },
  });
});

it.each(['not JSON', '{"version":"v1.38.0"}'])('reconciles nothing by a record that is refused too: %s', (record) => {
  const accepted = { number: 4, generation: 7, release, spec: record };
  expect(decide(withVersion('v1.31.9'), cluster, { newest: accepted, served: undefined })).toMatchObject({
    kind: 'invalid',
    message: mentions('does not support that minor version'),
  });
});

it('keeps the spelling of the version, which Cluster API compares as text', () => {
  expect(decide(withVersion('1.36.3'), cluster)).toMatchObject({ hostedControlPlane: { spec: { version: '1.36.3' } } });
});

function wanting(kind: string, name: string): ClusterObject {
  return clusterObjectWith({ spec: { controlPlaneRef: { kind, name } } });
}

function wanted(name: string): ClusterObject {
  return clusterObjectWith({ metadata: { name } });
}

function mentions(text: string): string {
  return expect.stringContaining(text) as string;
}

/**
 * What an earlier release without the rules has accepted. The values of a closed set stay closed, and the rule about the Gateway is one
 * of the whole spec, which an API server applies again with every change.
 */
const acceptedBefore = [...valueCases, ...argumentCases].filter(
  ({ spec: broken, refused }) => refused && !/omitStages|"gateway"/.test(JSON.stringify(broken)),
);

it('goes on with a value that was accepted before the rule that it breaks, also when the spec changes elsewhere', () => {
  expect(acceptedBefore.length).toBeGreaterThan(90);
  for (const { name, spec: broken } of acceptedBefore) {
    const before = { ...specWith(broken), version: spec.version };
    const recorded = { newest: { number: 4, generation: 7, release, spec: JSON.stringify(before) }, served: undefined };
    for (const replicas of [2, 3]) {
      const decided = decide(hostedControlPlaneObject({ spec: { ...before, replicas } }), cluster, recorded);
      expect([name, decided]).toMatchObject([name, { kind: 'admitted', hostedControlPlane: { spec: { replicas } } }]);
      expect([name, decided]).not.toHaveProperty('1.refusal.message');
    }
  }
});

it('refuses a value that breaks a rule when it is new, and goes on with the one before', () => {
  const accepted = { number: 4, generation: 7, release, spec: JSON.stringify({ ...spec, replicas: 1 }) };
  for (const { name, spec: broken, refused } of acceptedBefore) {
    // The operator writes the endpoint, and records it nowhere else.
    if ('controlPlaneEndpoint' in broken) continue;
    const object = hostedControlPlaneObject({ spec: { ...specWith(broken), version: spec.version } });
    expect([name, decide(object, cluster, { newest: accepted, served: undefined })]).toMatchObject([
      name,
      {
        kind: 'admitted',
        hostedControlPlane: { spec: { replicas: 1 } },
        refusal: { reason: 'InvalidConfiguration', message: mentions(refused?.path ?? '') },
      },
    ]);
  }
});

it('renders no version that it does not support, although it was accepted before', () => {
  const old = { ...spec, version: 'v1.31.9' };
  const recorded = { newest: { number: 4, generation: 7, release, spec: JSON.stringify(old) }, served: undefined };
  expect(decide(hostedControlPlaneObject({ spec: old }), cluster, recorded)).toMatchObject({ kind: 'invalid' });
});

it('names the Cluster that almost names the object, and no other', () => {
  const naming = (name: string) => decide(owned(), undefined, none, [wanting('HostedControlPlane', name)]);
  const typo = `${hostedControlPlaneName}x`;
  const hint = `Cluster c1 names HostedControlPlane ${typo}, which does not exist`;
  expect(naming(typo)).toMatchObject({ kind: 'unowned', message: mentions(hint) });
  expect(naming('quite-another')).toMatchObject({ kind: 'unowned', message: mentions('create a Cluster') });
});

it('Clusters without a control plane are those whose object does not exist, of one namespace', () => {
  const other = { ...cluster, metadata: { ...cluster.metadata, namespace: 'elsewhere' } };
  const clusters = [cluster, other, wanting('KubeadmControlPlane', 'x')];
  const find = (exists: boolean) =>
    withoutControlPlane({ list: () => clusters, get: () => (exists ? object : undefined) }, namespace);
  expect(find(false)).toEqual([cluster]);
  expect(find(true)).toEqual([]);
});

it('a missing owner is worth saying ten seconds after the creation, or at once where something was said before', () => {
  const created = { ...object.metadata, creationTimestamp: '2026-11-21T12:00:00Z' };
  const { status: _, ...unseen } = object;
  expect(saidUnownedAt({ ...unseen, metadata: created })).toBe(Date.parse('2026-11-21T12:00:10Z'));
  expect(saidUnownedAt({ ...unseen, metadata: created, status: { observedGeneration: -1 } })).toBeGreaterThan(0);
  expect(saidUnownedAt({ ...unseen, metadata: created, status: { conditions: [] } })).toBe(0);
});
