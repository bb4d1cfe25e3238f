import { describe, expect, it } from 'vitest';
import { parseHostedControlPlane } from '../../../constructs/api/parse-manifest.ts';
import { Deployment, Pod, StatefulSet } from '../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import { releaseOf } from '../../../constructs/cluster/release-revisions.ts';
import { binariesAnnotation, versionAnnotation } from '../../../constructs/pod/component.ts';
import { desiredState } from '../../../reconciler/desired-state/desired-state.ts';
import { reportHeld } from '../../../reconciler/desired-state/held-field.ts';
import { specText } from '../../../reconciler/desired-state/revision/revisions.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { clusterName, clusterObjectWith, hostedControlPlaneObject, now, spec } from '../../support/scope.ts';

/** What may hold a field of the spec, in the order in which it is decided. */
const causes = [
  'refused',
  'unchecked',
  'notAllowed',
  'emulated',
  'awaitsBackup',
  'awaitsChecks',
  'awaitsRestore',
  'etcdNotAllowed',
  'followersWait',
] as const;
type Cause = (typeof causes)[number];

/** What each holds alone. */
const alone: Readonly<Record<Cause, string>> = {
  refused: 'spec: InvalidConfiguration',
  unchecked: 'spec: CheckingConfiguration',
  notAllowed: 'exposure.loadBalancer.annotations: Overruled',
  emulated: 'version: HoldingUpgrade',
  awaitsBackup: 'version: WaitingForBackup',
  awaitsChecks: 'version: CheckingUpgrade',
  awaitsRestore: 'version: WaitingForRestore',
  etcdNotAllowed: 'etcd.version: VersionNotAllowed',
  followersWait: 'version: WaitingForOtherPhases',
};

/** Pairs of which the first leaves nothing for the second, or both are the same change. */
const first: readonly (readonly [Cause, Cause])[] = [
  // The configuration of a spec that is refused is not checked.
  ['refused', 'unchecked'],
  // The next step of an upgrade waits for its time before it waits for anything else.
  ['emulated', 'awaitsBackup'],
  ['emulated', 'awaitsChecks'],
  ['awaitsBackup', 'awaitsChecks'],
];

/** A version goes forward or back. */
const exclusive: readonly (readonly [Cause, Cause])[] = (['emulated', 'awaitsBackup', 'awaitsChecks'] as const).map(
  (one) => [one, 'awaitsRestore'],
);

const wanted = 'v1.36.3';

/** @param etcd the version of etcd in the spec */
function decide(present: readonly Cause[], etcd?: string) {
  const has = (cause: Cause) => present.includes(cause);
  const management = new MemoryObjects();
  const back = has('awaitsRestore');
  const isHeld = back || (['emulated', 'awaitsBackup', 'awaitsChecks'] as const).some(has);
  const rendered = back ? 'v1.37.1' : isHeld ? 'v1.35.1' : wanted;
  const labels = selectorLabels(clusterName, 'api-server');
  const annotations = {
    [versionAnnotation]: rendered,
    ...(has('emulated') ? { [binariesAnnotation]: wanted } : {}),
  };
  const counts = { replicas: 2, updatedReplicas: 2, availableReplicas: 2 };
  management.put({
    ...Deployment,
    metadata: { name: 'c1-api-server', labels },
    spec: { replicas: 2, template: { metadata: { annotations } } },
    status: counts,
  });
  management.put({
    ...Pod,
    metadata: {
      name: 'c1-api-server-0',
      labels,
      annotations: has('followersWait') ? { [versionAnnotation]: 'v1.34.1' } : annotations,
    },
  });
  const containers = [{ name: 'etcd', image: 'registry.k8s.io/etcd:3.6.11-0' }];
  management.put({
    ...StatefulSet,
    metadata: { name: 'c1-etcd', labels: selectorLabels(clusterName, 'etcd') },
    spec: { template: { spec: { containers } } },
  });
  const backup = { schedule: '@daily', secret: { name: 's3' }, beforeUpgrade: true };
  const object = hostedControlPlaneObject({
    spec: {
      ...spec,
      version: wanted,
      exposure: { loadBalancer: has('notAllowed') ? { annotations: { 'example.org/any': 'yes' } } : {} },
      etcd: {
        replicas: 3,
        version: etcd ?? (has('etcdNotAllowed') ? '3.5.26' : '3.6.11'),
        ...(has('awaitsBackup') ? { backup } : {}),
      },
      deployment: has('unchecked') ? { apiServer: { args: { v: '4' } } } : {},
    },
    status: {
      versions: [{ version: rendered, replicas: 2 }],
      ...(has('awaitsBackup') ? {} : { etcd: { backup: { versionChanges: ['Kubernetes 1.35 to 1.36'] } } }),
      ...(has('awaitsChecks') ? {} : { preflight: { version: wanted, succeeded: now.toISOString() } }),
    },
  });
  const parsed = parseHostedControlPlane(object);
  if (!parsed.valid) throw new Error(parsed.message);
  const { hostedControlPlane } = parsed;
  const release = releaseOf(36);
  const before = { ...hostedControlPlane, spec: { ...hostedControlPlane.spec, deployment: {} as never } };
  const last = { number: 1, generation: 1, spec: specText(before), release, hasServed: true };
  return desiredState({
    object,
    usable: {
      hostedControlPlane,
      release: { release },
      recorded: has('unchecked') ? { newest: last, served: last } : { newest: undefined, served: undefined },
      refusal: has('refused') ? { reason: 'InvalidConfiguration', message: 'no such field' } : undefined,
    },
    clusterObject: clusterObjectWith(),
    reader: management,
    platform: {},
    etcdReport: undefined,
    now,
  });
}

const heldBy = (present: readonly Cause[]) => decide(present).held.map(({ field, reason }) => `${field}: ${reason}`);
const isIn = (pairs: readonly (readonly [Cause, Cause])[], one: Cause, other: Cause) =>
  pairs.some(([a, b]) => a === one && b === other);

describe('what of a spec is not applied', () => {
  it('is nothing when nothing stands against it, and all of it is one cluster', () => {
    const { held, requested, accepted, cluster, followers } = decide([]);
    expect(held).toEqual([]);
    expect([accepted, cluster, followers]).toEqual([requested, requested, requested]);
  });

  it.each(causes)('is one field with its cause: %s', (cause) => {
    expect(heldBy([cause])).toEqual([alone[cause]]);
  });

  const pairs = causes.flatMap((one, index) => causes.slice(index + 1).map((other) => [one, other] as const));
  it.each(pairs.filter(([one, other]) => !isIn(exclusive, one, other)))(
    'of %s and %s is both, in this order',
    (one, other) => {
      const both = isIn(first, one, other) ? [alone[one]] : [alone[one], alone[other]];
      expect(heldBy([one, other])).toEqual(both);
    },
  );
});

it('says that etcd waits for its members, although its version may change', () => {
  const { etcdVersion, held } = decide([], '3.7.0');
  expect(etcdVersion.version).toBe('3.6.11');
  expect(held).toMatchObject([{ field: 'etcd.version', because: expect.stringContaining('etcd keeps 3.6.11 until') }]);
});

it('leaves a held field its time, whatever it waits for by now, and gives one that is new the present', () => {
  const since = '2026-11-21T11:00:00.000Z';
  const before = [{ field: 'version', because: 'a backup is missing', since }];
  const fields = [
    { field: 'spec', because: 'it is checked', reason: 'CheckingConfiguration' },
    { field: 'version', because: 'checks are missing', reason: 'CheckingUpgrade' },
    { field: 'version', because: 'API servers are replaced', reason: 'WaitingForOtherPhases' },
  ] as const;
  expect(reportHeld(fields, before, now)).toEqual([
    { field: 'spec', because: 'it is checked', since: now.toISOString() },
    { field: 'version', because: 'checks are missing; API servers are replaced', since },
  ]);
  expect(reportHeld([], before, now)).toBeUndefined();
});
