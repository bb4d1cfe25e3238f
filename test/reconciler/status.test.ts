import { describe, expect, it } from 'vitest';
import { Deployment, Pod, StatefulSet } from '../../constructs/api/resources.ts';
import { versionAnnotation } from '../../constructs/control-plane/component.ts';
import type { DeploymentObject, PodObject, StatefulSetObject } from '../../reconciler/kube/readiness.ts';
import { type Observation, observedStatus, summarize, type Verdicts, verdict } from '../../reconciler/status.ts';
import { clusterName, hostedCluster } from '../support/scope.ts';

type Counts = NonNullable<DeploymentObject['status']>;

const whole = { observedGeneration: 2, replicas: 3, readyReplicas: 3, updatedReplicas: 3, availableReplicas: 3 };
const succeeded = verdict('True', 'ReconcileSucceeded');
const failed = (message: string) => verdict('False', 'ReconcileFailed', message);
const waiting = verdict('False', 'WaitingForOtherPhases', 'waiting for X');

function deployment(status: Counts, replicas = 3): DeploymentObject {
  const { apiVersion, kind } = Deployment;
  return { apiVersion, kind, metadata: { name: 'x', generation: 2 }, spec: { replicas }, status };
}

function etcd(readyReplicas: number, replicas = 3): StatefulSetObject {
  const { apiVersion, kind } = StatefulSet;
  return { apiVersion, kind, metadata: { name: 'c1-etcd' }, spec: { replicas }, status: { readyReplicas } };
}

/** A control plane of three API servers in which everything works. */
function observation(changes: Partial<Observation> = {}): Observation {
  return {
    cluster: clusterName,
    spec: hostedCluster({ replicas: 3 }).spec,
    previous: undefined,
    phases: {
      CACertificatesReady: succeeded,
      EtcdCertificatesReady: succeeded,
      CertificatesReady: succeeded,
      WorkloadSetupReady: succeeded,
    },
    apiServer: deployment(whole),
    controllerManager: deployment(whole),
    scheduler: deployment(whole),
    etcd: etcd(3),
    apiServerPods: [],
    etcdVolumeSize: '4Gi',
    loadBalancerIP: undefined,
    ...changes,
  };
}

/** The verdict as `status reason: message`. */
function said(changes: Partial<Observation>, type: keyof Verdicts, initialized = true): string {
  const found = summarize(observation(changes), initialized)[type];
  return `${found?.status} ${found?.reason}${found?.message ? `: ${found.message}` : ''}`;
}

describe('the summaries', () => {
  it.each<[string, Partial<Observation>, string]>([
    ['everything works', {}, 'True Available'],
    ['one API server is left', { apiServer: deployment({ ...whole, availableReplicas: 1 }) }, 'True Available'],
    ['a roll-out runs', { apiServer: deployment({ ...whole, updatedReplicas: 1 }) }, 'True Available'],
    ['etcd has just a quorum', { etcd: etcd(2) }, 'True Available'],
    [
      'another phase fails',
      { phases: { CACertificatesReady: succeeded, SchedulerReady: failed('x') } },
      'True Available',
    ],
    ['there is no API server', { apiServer: undefined }, 'False NotAvailable: no API server is available'],
    [
      'no API server is available',
      { apiServer: deployment({ ...whole, availableReplicas: 0 }) },
      'False NotAvailable: no API server is available',
    ],
    ['etcd has lost its quorum', { etcd: etcd(1) }, 'False NotAvailable: 1 of 3 etcd members are ready, 2 are needed'],
    ['there is no etcd', { etcd: undefined }, 'False NotAvailable: 0 of 3 etcd members are ready, 2 are needed'],
    [
      'an authority is gone',
      { phases: { CACertificatesReady: failed('Secret c1-ca is gone') } },
      'False NotAvailable: Secret c1-ca is gone',
    ],
    [
      'nothing is known',
      { phases: {}, apiServer: undefined, etcd: undefined },
      'False NotAvailable: no API server is available; 0 of 3 etcd members are ready, 2 are needed; authorities have not been looked at yet',
    ],
    ['nothing is known of authorities', { phases: {} }, 'False NotAvailable: authorities have not been looked at yet'],
  ])('say of Available when %s', (_, changes, expected) => {
    expect(said(changes, 'Available')).toBe(expected);
  });

  it.each<[string, Counts | undefined, string[]]>([
    ['at rest', whole, []],
    ['a change that nobody has noticed', { ...whole, observedGeneration: 1 }, ['RollingOut']],
    ['a roll-out with its surplus pod', { ...whole, replicas: 4, updatedReplicas: 1 }, ['RollingOut']],
    ['a roll-out that has lost a pod', { ...whole, replicas: 2, updatedReplicas: 1 }, ['RollingOut', 'ScalingUp']],
    ['the last old pod of a roll-out', { ...whole, replicas: 4, updatedReplicas: 3 }, ['RollingOut']],
    ['one pod too few', { ...whole, replicas: 2, updatedReplicas: 2 }, ['ScalingUp']],
    ['one pod too many', { ...whole, replicas: 4, updatedReplicas: 4 }, ['ScalingDown']],
    ['no Deployment yet', undefined, ['ScalingUp']],
  ])('say of the number of API servers with %s', (_, counts, expected) => {
    const verdicts = summarize(observation({ apiServer: counts && deployment(counts) }), true);
    const types = ['RollingOut', 'ScalingUp', 'ScalingDown'] as const;
    expect(types.filter((type) => verdicts[type]?.status === 'True')).toEqual(expected);
    expect(types.map((type) => verdicts[type]?.reason)).toEqual(
      types.map((type) => (expected.includes(type) ? type : `Not${type}`)),
    );
  });

  it.each<[string, Verdicts, string]>([
    ['all are there', observation().phases, 'True Available'],
    [
      'an authority is gone',
      { ...observation().phases, CACertificatesReady: failed('gone') },
      'False NotAvailable: gone',
    ],
    ["etcd's are missing", { ...observation().phases, EtcdCertificatesReady: failed('no') }, 'False NotAvailable: no'],
    ['others wait', { ...observation().phases, CertificatesReady: waiting }, 'False NotAvailable: waiting for X'],
  ])('say of CertificatesAvailable when %s', (_, phases, expected) => {
    expect(said({ phases }, 'CertificatesAvailable')).toBe(expected);
  });

  it.each<[string, StatefulSetObject | undefined, string]>([
    ['all members are ready', etcd(3), 'True Healthy'],
    ['one is not', etcd(2), 'False NotHealthy: 2 of 3 etcd members are ready'],
    ['it does not exist', undefined, 'Unknown HealthUnknown: etcd has not been created yet'],
  ])('say of EtcdClusterHealthy when %s', (_, set, expected) => {
    expect(said({ etcd: set }, 'EtcdClusterHealthy')).toBe(expected);
  });

  it.each<[string, Partial<Observation>, string]>([
    ['all are there', {}, 'True Healthy'],
    [
      'there is no scheduler',
      { scheduler: undefined },
      'False NotHealthy: scheduler: the Deployment does not exist yet',
    ],
    [
      'two are ill',
      {
        apiServer: deployment({ ...whole, availableReplicas: 2 }),
        controllerManager: deployment({ ...whole, availableReplicas: 0 }),
      },
      'False NotHealthy: API server: 2 of 3 replicas available; controller manager: 0 of 3 replicas available',
    ],
  ])('say of ControlPlaneComponentsHealthy when %s', (_, changes, expected) => {
    expect(said(changes, 'ControlPlaneComponentsHealthy')).toBe(expected);
  });

  it.each<[string, Verdicts, string]>([
    ['all phases are done', observation().phases, 'True Ready'],
    [
      'some are not, without those that only wait for them',
      { EtcdClusterReady: failed('etcd: 2 of 3'), SchedulerReady: waiting, CACertificatesReady: failed('gone') },
      'False NotReady: gone; etcd: 2 of 3',
    ],
  ])('say of Ready when %s', (_, phases, expected) => {
    expect(said({ phases }, 'Ready')).toBe(expected);
  });

  it('say of Initialized what the latch says', () => {
    expect(said({}, 'Initialized', true)).toBe('True Initialized');
    expect(said({}, 'Initialized', false)).toBe('False NotInitialized: no worker can join yet');
  });

  it('keep what the phases say, and are neither Deleting nor Paused', () => {
    const phases = { EtcdClusterReady: failed('x') };
    expect(summarize(observation({ phases }), true)).toMatchObject({
      ...phases,
      Deleting: { status: 'False', reason: 'NotDeleting' },
      Paused: { status: 'False', reason: 'NotPaused' },
    });
  });
});

describe('the versions of the API servers', () => {
  const pod = (version: string, ready = true, deletionTimestamp?: string): PodObject => ({
    apiVersion: Pod.apiVersion,
    kind: Pod.kind,
    metadata: { name: 'x', annotations: { [versionAnnotation]: version }, deletionTimestamp },
    status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  });
  const before = 'v1.35.6';
  const after = 'v1.36.3';
  const gone = '2026-11-21T12:00:00Z';

  it.each<[string, PodObject[], [string, number][]]>([
    ['before an upgrade', [pod(before), pod(before), pod(before)], [[before, 3]]],
    ['while the first new one starts', [pod(after, false), pod(before), pod(before)], [[before, 2]]],
    [
      'when the first new one serves',
      [pod(after), pod(before), pod(before)],
      [
        [before, 2],
        [after, 1],
      ],
    ],
    [
      'while the last old one still serves on its way out',
      [pod(after), pod(after), pod(before, true, gone)],
      [
        [before, 1],
        [after, 2],
      ],
    ],
    ['when it no longer does', [pod(after), pod(after), pod(before, false, gone)], [[after, 2]]],
    ['after it', [pod(after), pod(after), pod(after)], [[after, 3]]],
    [
      'with patches of two digits',
      [pod('v1.36.10'), pod('v1.36.9')],
      [
        ['v1.36.9', 1],
        ['v1.36.10', 1],
      ],
    ],
    ['without v', [pod('1.36.3')], [['1.36.3', 1]]],
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

  it('stay what they were while none serves: Cluster API takes none for not provisioned', () => {
    const previous = { versions: [{ version: before, replicas: 2 }], version: before };
    expect(observedStatus(observation({ previous, apiServerPods: [pod(after, false)] }))).toMatchObject(previous);
  });

  it('are absent before the first API server serves', () => {
    expect(observedStatus(observation())).not.toHaveProperty('versions');
    expect(observedStatus(observation())).not.toHaveProperty('version');
  });
});

describe('the other fields', () => {
  it('count API servers, with zeros where there is no Deployment', () => {
    const counts = { replicas: 4, readyReplicas: 3, updatedReplicas: 1, availableReplicas: 2 };
    expect(observedStatus(observation({ apiServer: deployment(counts) }))).toMatchObject({
      replicas: 4,
      readyReplicas: 3,
      upToDateReplicas: 1,
      availableReplicas: 2,
    });
    const none = { replicas: 0, readyReplicas: 0, upToDateReplicas: 0, availableReplicas: 0 };
    expect(observedStatus(observation({ apiServer: undefined }))).toMatchObject(none);
    expect(observedStatus(observation({ apiServer: deployment({}) }))).toMatchObject(none);
  });

  it.each<[string, Verdicts, Observation['previous'], boolean]>([
    ['is set when workers can join', { WorkloadSetupReady: succeeded }, undefined, true],
    ['is not set before', { WorkloadSetupReady: waiting }, undefined, false],
    [
      'stays when the hosted cluster fails',
      { WorkloadSetupReady: failed('x') },
      { initialization: { controlPlaneInitialized: true } },
      true,
    ],
    ['comes back when the status was lost', { WorkloadSetupReady: succeeded }, {}, true],
  ])('the latch of initialization %s', (_, phases, previous, expected) => {
    const status = observedStatus(observation({ phases, previous }));
    expect(status.initialization).toEqual(expected ? { controlPlaneInitialized: true } : undefined);
    expect(status.ready).toBe(expected ? true : undefined);
  });

  it('say what Cluster API and the scale subresource need', () => {
    expect(observedStatus(observation({ loadBalancerIP: '192.0.2.1' }))).toMatchObject({
      externalManagedControlPlane: true,
      selector: 'cluster.x-k8s.io/cluster-name=c1,app.kubernetes.io/component=api-server',
      etcdVolumeSize: '4Gi',
      legacyIP: '192.0.2.1',
    });
  });
});
