import type { PodObject } from '../../../../imports/kubernetes.ts';
import { describe, expect, it } from 'vitest';
import { Pod } from '../../../../constructs/api/resources.ts';
import { versionAnnotation } from '../../../../constructs/pod/component.ts';
import { type Observation, observedStatus } from '../../../../reconciler/reconcile/status/summaries.ts';
import { type ConditionUpdates } from '../../../../reconciler/engine/condition-update.ts';
import { deployment, failed, observation, succeeded, waiting, whole } from '../../../support/observation.ts';

it('counts no API server as up to date before the version of the spec is rendered', () => {
  const counted = (version: string) => {
    const { spec, ...rest } = deployment(whole);
    const template = { metadata: { annotations: { [versionAnnotation]: version } } };
    return observedStatus(observation({ apiServer: { ...rest, spec: { ...spec, template } } })).upToDateReplicas;
  };
  expect(counted('v1.36.3')).toBe(3);
  expect(counted('v1.35.6')).toBe(0);
});

it.each([
  [2, ['v1.36.3', 'v1.36.3', 'v1.35.6']],
  [0, ['v1.35.6', 'v1.35.6', 'v1.35.6']],
])('counts %d API servers as up to date before the new template is counted, if they have %j', (expected, versions) => {
  const apiServerPods: PodObject[] = versions.map((version, index) => ({
    apiVersion: Pod.apiVersion,
    kind: Pod.kind,
    metadata: { name: `${index}`, annotations: { [versionAnnotation]: version } },
  }));
  const apiServer = deployment({ ...whole, observedGeneration: 1 });
  expect(observedStatus(observation({ apiServer, apiServerPods })).upToDateReplicas).toBe(expected);
});

describe('the versions of the API servers', () => {
  const pod = (version: string, ready = true, deletionTimestamp?: string): PodObject => ({
    apiVersion: Pod.apiVersion,
    kind: Pod.kind,
    metadata: { name: 'x', annotations: { [versionAnnotation]: version }, deletionTimestamp },
    status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  });
  const ended = (one: PodObject): PodObject => ({ ...one, status: { ...one.status, phase: 'Failed' } });
  const before = 'v1.35.6';
  const after = 'v1.36.3';
  const gone = '2026-11-21T12:00:00Z';

  it.each<[string, PodObject[], [string, number][]]>([
    ['before an upgrade', [pod(before), pod(before), pod(before)], [[before, 3]]],
    ['while the first new one starts', [pod(after, false), pod(before), pod(before)], [[before, 2]]],
    [
      'when the first new one is ready',
      [pod(after), pod(before), pod(before)],
      [
        [before, 2],
        [after, 1],
      ],
    ],
    [
      'while the last old one is ready during its termination',
      [pod(after), pod(after), pod(before, true, gone)],
      [
        [before, 1],
        [after, 2],
      ],
    ],
    [
      'while the last old one is not ready and not gone',
      [pod(after), pod(after), pod(before, false)],
      [
        [before, 1],
        [after, 2],
      ],
    ],
    [
      'while the last old one terminates',
      [pod(after), pod(after), pod(before, false, gone)],
      [
        [before, 1],
        [after, 2],
      ],
    ],
    ['when the last old one was evicted', [pod(after), pod(after), ended(pod(before, false))], [[after, 2]]],
    ['after the upgrade', [pod(after), pod(after), pod(after)], [[after, 3]]],
    [
      'with patch versions of two digits',
      [pod('v1.36.10'), pod('v1.36.9')],
      [
        ['v1.36.9', 1],
        ['v1.36.10', 1],
      ],
    ],
    [
      'with two builds of one version',
      [pod('v1.36.3+k0s.10'), pod('v1.36.3+k0s.9')],
      [
        ['v1.36.3+k0s.9', 1],
        ['v1.36.3+k0s.10', 1],
      ],
    ],
    ['without the prefix v', [pod('1.36.3')], [['1.36.3', 1]]],
    [
      'in two spellings',
      [pod('v1.36'), pod('v1.36.3')],
      [
        ['v1.36', 1],
        ['v1.36.3', 1],
      ],
    ],
  ])('are counted oldest first %s, and the oldest one is the version', (_, apiServerPods, expected) => {
    const status = observedStatus(observation({ apiServerPods }));
    expect(status.versions).toEqual(expected.map(([version, replicas]) => ({ version, replicas })));
    expect(status.version).toBe(expected[0]?.[0]);
  });

  it('count pods that are ready, whatever their other conditions are', () => {
    const started = { type: 'PodReadyToStartContainers', status: 'False' };
    const ready = { type: 'Ready', status: 'True' };
    const apiServerPods = [{ ...pod(after), status: { conditions: [started, ready] } }];
    expect(observedStatus(observation({ apiServerPods })).version).toBe(after);
  });

  it('stay the same while none is ready, because Cluster API takes a missing version for not provisioned', () => {
    const previous = { versions: [{ version: before, replicas: 2 }], version: before };
    expect(observedStatus(observation({ previous, apiServerPods: [pod(after, false)] }))).toMatchObject(previous);
    expect(observedStatus(observation({ previous, apiServerPods: [] }))).toMatchObject(previous);
  });

  it('are absent before the first API server is ready', () => {
    expect(observedStatus(observation())).not.toHaveProperty('versions');
    expect(observedStatus(observation())).not.toHaveProperty('version');
  });
});

describe('the other fields', () => {
  it('count API servers, with zeros if there is no Deployment', () => {
    const counts = { observedGeneration: 2, replicas: 4, readyReplicas: 3, updatedReplicas: 1, availableReplicas: 2 };
    expect(observedStatus(observation({ apiServer: deployment(counts) }))).toMatchObject({
      replicas: 4,
      readyReplicas: 3,
      upToDateReplicas: 1,
      availableReplicas: 2,
    });
    const none = { replicas: 0, readyReplicas: 0, upToDateReplicas: 0, availableReplicas: 0 };
    expect(observedStatus(observation({ apiServer: undefined }))).toMatchObject(none);
    expect(observedStatus(observation({ apiServer: deployment({}) }))).toMatchObject(none);
    const { status: _, ...fresh } = deployment({});
    expect(observedStatus(observation({ apiServer: fresh }))).toMatchObject(none);
  });

  it.each<[string, ConditionUpdates, Observation['previous'], boolean]>([
    ['is set when workers can join', { WorkloadSetupReady: succeeded }, undefined, true],
    ['is not set before any phase ran', {}, undefined, false],
    ['is not set before workers can join', { WorkloadSetupReady: waiting }, undefined, false],
    [
      'stays when the hosted cluster fails',
      { WorkloadSetupReady: failed('x') },
      { initialization: { controlPlaneInitialized: true } },
      true,
    ],
    ['is restored when the status was lost', { WorkloadSetupReady: succeeded }, {}, true],
  ])('the initialization field %s', (_, phases, previous, expected) => {
    const status = observedStatus(observation({ phases, previous }));
    expect(status.initialization).toEqual(expected ? { controlPlaneInitialized: true } : undefined);
    expect(status.ready).toBe(expected ? true : undefined);
  });

  it('report how pods reach their API server, also while the endpoint is lost', () => {
    const previous = { inClusterAccess: 'Proxy' } as const;
    expect(observedStatus(observation({ previous })).inClusterAccess).toBe('LoadBalancer');
    expect(observedStatus(observation({ previous, inClusterAccess: undefined })).inClusterAccess).toBe('Proxy');
    expect(observedStatus(observation({ inClusterAccess: undefined }))).not.toHaveProperty('inClusterAccess');
  });

  const before = {
    certificates: [{ kind: 'Server', secret: 'c1-apiserver', notAfter: '2027-11-21T12:00:00Z' }],
    certificatesNotAfter: '2027-11-21T12:00:00Z',
    encryptionAtRest: { provider: 'secretbox' },
    etcdVolumeUsage: '256Mi',
    etcdLastBackupTime: '2026-11-20T02:30:00Z',
    etcdNextBackupTime: '2026-11-21T02:30:00Z',
    etcdLastDefragTime: '2026-11-19T12:00:00Z',
    etcdLastAttemptedDefragTime: '2026-11-19T12:00:00Z',
  } satisfies Observation['previous'];

  it('keep what phases reported until they report something else, and drop unknown fields', () => {
    const previous: Observation['previous'] = { ...before, etcd: { clusterID: '1267' }, legacyIP: '192.0.2.9' };
    const kept = observedStatus(observation({ previous }));
    expect(kept).toMatchObject({ ...before, etcd: { clusterID: '1267' } });
    expect(kept).not.toHaveProperty('legacyIP');
    const report = { etcdVolumeUsage: '512Mi', etcd: { members: [] } };
    expect(observedStatus(observation({ previous, report }))).toMatchObject({
      ...before,
      etcdVolumeUsage: '512Mi',
      etcd: { clusterID: '1267', members: [] },
    });
  });

  it('keep the issuer of tokens while it is not known', () => {
    const previous = { serviceAccountIssuer: 'https://before.example.org' };
    const issuer = (changes: Partial<Observation>) => observedStatus(observation(changes)).serviceAccountIssuer;
    expect(issuer({ previous })).toBe('https://before.example.org');
    expect(issuer({ previous, serviceAccountIssuer: 'https://now.example.org' })).toBe('https://now.example.org');
  });

  it('keep the address of a load balancer while it has none, and drop it without one', () => {
    const previous = { legacyIP: '192.0.2.9' };
    const address = (changes: Partial<Observation>) => observedStatus(observation(changes)).legacyIP;
    expect(address({ previous, isBalanced: true })).toBe('192.0.2.9');
    expect(address({ previous, isBalanced: false })).toBeUndefined();
    expect(address({ isBalanced: true })).toBeUndefined();
  });

  it('keep the emulated version as long as the binaries are those that emulate it', () => {
    const previous = { emulation: { binaries: 'v1.36.3', since: '2026-11-21T12:00:00Z' } };
    const emulation = (changes: Partial<Observation>) => observedStatus(observation(changes)).emulation;
    expect(emulation({ previous, binaries: 'v1.36.3' })).toEqual(previous.emulation);
    expect(emulation({ previous, binaries: 'v1.36.4' })).toBeUndefined();
    expect(emulation({ previous: {}, binaries: 'v1.36.3' })).toBeUndefined();
    expect(emulation({ binaries: 'v1.36.3' })).toBeUndefined();
    expect(emulation({ previous })).toBeUndefined();
  });

  it('contain the versions of the components that report them', () => {
    const role = 'Follower' as const;
    const members = [
      { name: 'c1-etcd-0', role },
      { name: 'c1-etcd-1', role, version: '3.6.8' },
    ];
    const version = (report: Observation['report']) =>
      observedStatus(observation({ report })).components?.find(({ name }) => name === 'etcd')?.version;
    expect(version({ etcd: { members } })).toBe('3.6.8');
    expect(version({})).toBeUndefined();
  });

  it('are absent before a phase has reported them', () => {
    const fresh = observedStatus(observation());
    for (const field of [...Object.keys(before), 'etcd', 'legacyIP']) expect(fresh).not.toHaveProperty(field);
  });

  it('count no API server whose version or readiness is unknown', () => {
    const unknown: PodObject = { apiVersion: Pod.apiVersion, kind: Pod.kind, metadata: { name: 'x' } };
    const unmarked = { ...unknown, status: { conditions: [{ type: 'Ready', status: 'True' }] } };
    const other = {
      ...unknown,
      metadata: { name: 'y', annotations: { [versionAnnotation]: 'v1.36.3' } },
      status: { conditions: [{ type: 'Initialized', status: 'True' }] },
    };
    const silent = { ...other, status: {} };
    const status = observedStatus(observation({ apiServerPods: [unknown, unmarked, other, silent] }));
    expect(status).not.toHaveProperty('versions');
  });

  it('contain what Cluster API and the scale subresource need', () => {
    expect(observedStatus(observation({ loadBalancerIP: '192.0.2.1' }))).toMatchObject({
      externalManagedControlPlane: true,
      selector: 'cluster.x-k8s.io/cluster-name=c1,app.kubernetes.io/component=api-server',
      etcdVolumeSize: '4Gi',
      legacyIP: '192.0.2.1',
    });
  });
});
