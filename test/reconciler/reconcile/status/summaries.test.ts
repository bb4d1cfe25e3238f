import type { PodObject, StatefulSetObject } from '../../../../imports/kubernetes.ts';
import { describe, expect, it } from 'vitest';
import type { EtcdObservation } from '../../../../reconciler/etcd/members.ts';
import type { EtcdReport } from '../../../../reconciler/etcd/report.ts';
import { settled } from '../../../../reconciler/etcd/steps.ts';
import { versionAnnotation } from '../../../../constructs/pod/component.ts';
import { type Observation, summarize } from '../../../../reconciler/reconcile/status/summaries.ts';
import {
  conditionUpdate,
  type ConditionUpdate,
  type ConditionUpdates,
} from '../../../../reconciler/engine/condition-update.ts';
import {
  type Counts,
  deployment,
  etcd,
  failed,
  observation,
  succeeded,
  waiting,
  whole,
} from '../../../support/observation.ts';
import { now } from '../../../support/scope.ts';
import { observed, silent } from '../../etcd/observed.ts';

const reportOf = (observation: EtcdObservation): EtcdReport => ({ observation, decision: settled });
const unanswered = { membership: 'unknown' } as const;

/** The update as `status reason: message`. */
function summaryOf(changes: Partial<Observation>, type: keyof ConditionUpdates, initialized = true): string {
  const found = summarize(observation(changes), initialized)[type];
  return `${found?.status} ${found?.reason}${found?.message ? `: ${found.message}` : ''}`;
}

const failing = (reason: ConditionUpdate['reason']) => conditionUpdate('False', reason, 'x');

/** The object before its controller has observed it. */
function fresh<T extends { readonly status?: unknown }>(object: T): Omit<T, 'status'> {
  const { status: _, ...rest } = object;
  return rest;
}

function withoutSpec(object: StatefulSetObject): StatefulSetObject {
  const { spec: _, ...rest } = object;
  return rest;
}

describe('the summaries', () => {
  it('name what the operator overrules, as long as it does, apart from Ready', () => {
    const overruled = ['kube-scheduler: args cannot set leader-elect: remove it'];
    expect(summaryOf({}, 'SpecSupported')).toBe('True Supported');
    expect(summaryOf({ overruled }, 'SpecSupported')).toBe(`False Overruled: ${overruled[0]}`);
    expect(summaryOf({ overruled }, 'Ready')).toBe(summaryOf({}, 'Ready'));
  });

  it.each<[string, Partial<Observation>, string]>([
    ['everything works', {}, 'True Available'],
    ['one API server is left', { apiServer: deployment({ ...whole, availableReplicas: 1 }) }, 'True Available'],
    ['a rollout is in progress', { apiServer: deployment({ ...whole, updatedReplicas: 1 }) }, 'True Available'],
    ['etcd has exactly a quorum', { etcd: etcd(2) }, 'True Available'],
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
    [
      'etcd has lost its quorum',
      { etcd: etcd(1) },
      'False NotAvailable: 1 of 3 etcd members are ready, but a quorum needs 2: see the condition EtcdClusterReady',
    ],
    [
      'the objects have no status yet',
      { apiServer: fresh(deployment({})), etcd: fresh(etcd(0)) },
      'False NotAvailable: no API server is available; 0 of 3 etcd members are ready, but a quorum needs 2: see the condition EtcdClusterReady',
    ],
    [
      'there is no etcd',
      { etcd: undefined },
      'False NotAvailable: 0 of 3 etcd members are ready, but a quorum needs 2: see the condition EtcdClusterReady',
    ],
    [
      'a CA is gone',
      { phases: { CACertificatesReady: failed('Secret c1-ca is gone') } },
      'False NotAvailable: Secret c1-ca is gone',
    ],
    [
      'nothing is known',
      { phases: {}, apiServer: undefined, etcd: undefined },
      'False NotAvailable: no API server is available; 0 of 3 etcd members are ready, but a quorum needs 2: see the condition EtcdClusterReady; the operator has not checked the CAs yet',
    ],
    [
      'etcd members agree, though their pods are not ready yet',
      { etcdReport: reportOf(observed(3)), etcd: etcd(0) },
      'True Available',
    ],
    [
      'etcd members have no quorum, though their pods are ready',
      { etcdReport: reportOf(observed(3, { 1: silent, 2: silent })) },
      'False NotAvailable: 1 of 3 etcd members are healthy, but a quorum needs 2: see the condition EtcdClusterHealthy',
    ],
    [
      'no etcd member answers the operator and their pods are ready',
      { etcdReport: reportOf(observed(3, {}, unanswered)) },
      'True Available',
    ],
    [
      'it wakes up, and no API server has answered yet',
      { apiServer: undefined, previous: { hibernation: { since: '2026-11-21T12:00:00Z' } } },
      'False WakingUp: no API server is available',
    ],
    [
      'it has woken up, and fails then',
      {
        apiServer: undefined,
        previous: { hibernation: { since: '2026-11-21T12:00:00Z', until: '2026-11-21T13:00:00Z' } },
      },
      'False NotAvailable: no API server is available',
    ],
    ['nothing is known of CAs', { phases: {} }, 'False NotAvailable: the operator has not checked the CAs yet'],
  ])('set Available when %s', (_, changes, expected) => {
    expect(summaryOf(changes, 'Available')).toBe(expected);
  });

  it.each<[string, Counts | 'fresh' | undefined, string[]]>([
    ['no rollout', whole, []],
    ['a change that its controller has not observed', { ...whole, observedGeneration: 1 }, ['RollingOut']],
    ['a rollout with its surplus pod', { ...whole, replicas: 4, updatedReplicas: 1 }, ['RollingOut']],
    ['a rollout that has lost a pod', { ...whole, replicas: 2, updatedReplicas: 1 }, ['RollingOut', 'ScalingUp']],
    ['the last old pod of a rollout', { ...whole, replicas: 4, updatedReplicas: 3 }, ['RollingOut']],
    ['one pod too few', { ...whole, replicas: 2, updatedReplicas: 2 }, ['ScalingUp']],
    ['one pod too many', { ...whole, replicas: 4, updatedReplicas: 4 }, ['ScalingDown']],
    ['no Deployment yet', undefined, ['ScalingUp']],
    ['a Deployment without status', 'fresh', ['RollingOut', 'ScalingUp']],
  ])('compare the number of API servers with %s', (_, counts, expected) => {
    const apiServer = counts === 'fresh' ? fresh(deployment({})) : counts && deployment(counts);
    const updates = summarize(observation({ apiServer }), true);
    const types = ['RollingOut', 'ScalingUp', 'ScalingDown'] as const;
    expect(types.filter((type) => updates[type]?.status === 'True')).toEqual(expected);
    expect(types.map((type) => updates[type]?.reason)).toEqual(
      types.map((type) => (expected.includes(type) ? type : `Not${type}`)),
    );
  });

  it.each([
    ['RollingOut', { ...whole, updatedReplicas: 1 }, 'True RollingOut: 1 of 3 API servers are up to date'],
    ['ScalingUp', { ...whole, replicas: 2 }, 'True ScalingUp: scaling up from 2 to 3 API servers'],
    [
      'ScalingDown',
      { ...whole, replicas: 4, updatedReplicas: 4 },
      'True ScalingDown: scaling down from 4 to 3 API servers',
    ],
    ['RollingOut', { replicas: 3 }, 'True RollingOut: 0 of 3 API servers are up to date'],
  ] as const)('name both numbers in the message of %s', (type, counts, expected) => {
    expect(summaryOf({ apiServer: deployment(counts) }, type)).toBe(expected);
  });

  it('set RollingOut until the last API server of another version is gone', () => {
    const metadata = {
      name: 'x',
      annotations: { [versionAnnotation]: 'v1.35.6' },
      deletionTimestamp: now.toISOString(),
    };
    const old: PodObject = { apiVersion: 'v1', kind: 'Pod', metadata };
    expect(summaryOf({ apiServerPods: [old] }, 'RollingOut')).toBe(
      'True RollingOut: 3 of 3 API servers are up to date, 1 of v1.35.6 not gone yet',
    );
    expect(summaryOf({ apiServerPods: [{ ...old, status: { phase: 'Failed' } }] }, 'RollingOut')).toBe(
      'False NotRollingOut',
    );
  });

  it.each<[string, ConditionUpdates, string]>([
    ['all exist', observation().phases, 'True Available'],
    ['a CA is gone', { ...observation().phases, CACertificatesReady: failed('gone') }, 'False NotAvailable: gone'],
    ["etcd's are missing", { ...observation().phases, EtcdCertificatesReady: failed('no') }, 'False NotAvailable: no'],
    ['others wait', { ...observation().phases, CertificatesReady: waiting }, 'False NotAvailable: waiting for X'],
  ])('set CertificatesAvailable when %s', (_, phases, expected) => {
    expect(summaryOf({ phases }, 'CertificatesAvailable')).toBe(expected);
  });

  const stopped: StatefulSetObject = { ...fresh(etcd(0)), spec: { replicas: 0 } };
  const lost = { status: undefined, registration: undefined, claim: undefined };
  const withoutMembers = 'False NotHealthy: no etcd member runs: see the condition EtcdRestoreReady';

  it.each<[string, StatefulSetObject | undefined, string]>([
    ['all members are ready', etcd(3), 'True Healthy'],
    ['one is not', etcd(2), 'False NotHealthy: 2 of 3 etcd members are ready'],
    ['it does not exist', undefined, 'Unknown HealthUnknown: etcd has not been created yet'],
    ['its pods have not been counted yet', fresh(etcd(0)), 'False NotHealthy: 0 of 3 etcd members are ready'],
    ['it has no replica count', { ...fresh(etcd(0)), spec: {} }, 'False NotHealthy: 0 of 1 etcd members are ready'],
    ['it has no spec', withoutSpec(etcd(0)), 'False NotHealthy: 0 of 1 etcd members are ready'],
    ['a restore has stopped its members', stopped, withoutMembers],
  ])('set EtcdClusterHealthy when %s', (_, set, expected) => {
    expect(summaryOf({ etcd: set }, 'EtcdClusterHealthy')).toBe(expected);
  });

  it.each<[string, ConditionUpdates, string]>([
    ['its members are being stopped', { EtcdClusterReady: failing('StoppingMembers') }, 'Unknown HealthUnknown: x'],
    ['its members are stopped', { EtcdClusterReady: failing('Hibernated') }, 'Unknown HealthUnknown: x'],
    ['a phase has not run', {}, 'True Healthy'],
  ])('set EtcdClusterHealthy when %s', (_, phases, expected) => {
    expect(summaryOf({ phases }, 'EtcdClusterHealthy')).toBe(expected);
  });

  it.each<[string, ConditionUpdates, string]>([
    ['it sleeps', { Awake: failing('Hibernated') }, 'False Hibernated: x'],
    ['it is not known whether it sleeps', { Awake: waiting }, 'True Healthy'],
    ['it is awake', { Awake: succeeded }, 'True Healthy'],
  ])('say neither that a control plane serves nor that it has failed while %s', (_, phases, expected) => {
    expect(summaryOf({ phases }, 'ControlPlaneComponentsHealthy')).toBe(expected);
    const resting = { phases: { CACertificatesReady: succeeded, ...phases } };
    expect(summaryOf(resting, 'Available').replace('Available', 'Healthy')).toBe(expected);
    const scaling = summaryOf({ phases, apiServer: deployment({ ...whole, replicas: 2 }) }, 'ScalingUp');
    expect(scaling.startsWith('True')).toBe(!expected.startsWith('False'));
  });

  const formed = { etcd: { clusterID: '1267' } };
  it.each<[string, Partial<Observation>, string]>([
    ['its members agree', { etcdReport: reportOf(observed(3)), etcd: etcd(0) }, 'True Healthy'],
    [
      'its members have no quorum',
      { etcdReport: reportOf(observed(3, { 1: silent, 2: silent })) },
      'False NotHealthy: etcd has no quorum without etcd-1, etcd-2',
    ],
    [
      'no member answers and it was formed',
      { etcdReport: reportOf(observed(0, {}, unanswered)), previous: formed },
      'False NotHealthy: no etcd member answers',
    ],
    [
      'no member answers and it was never formed',
      { etcdReport: reportOf(observed(0, {}, unanswered)), previous: {} },
      'True Healthy',
    ],
    [
      'no volume is marked, and it was formed by this report',
      { etcdReport: reportOf(observed(3, { 0: lost, 1: lost, 2: lost }, unanswered)), report: formed },
      'False DataLost: the data of all 3 members of etcd is gone, and the operator does not start an empty etcd. No member is left, and no backup is known: set etcd.restore to one, or delete this object and create it without its annotations to begin with an empty etcd',
    ],
    [
      'the data of the only recorded member is gone',
      {
        etcdReport: reportOf(observed(3, { 0: lost, 1: lost, 2: lost }, unanswered)),
        previous: { etcd: { clusterID: '1267', members: [{ name: 'etcd-1', role: 'Leader' }] } },
      },
      'False DataLost: the data of the only member of etcd is gone, and the operator does not start an empty etcd. No member is left, and no backup is known: set etcd.restore to one, or delete this object and create it without its annotations to begin with an empty etcd',
    ],
    ['it was formed and was not observed yet', { previous: formed }, 'True Healthy'],
    [
      'a restore has stopped members that agreed before',
      { etcdReport: reportOf(observed(3)), etcd: stopped, previous: formed },
      withoutMembers,
    ],
  ])('set EtcdClusterHealthy when %s, whatever its pods are', (_, changes, expected) => {
    expect(summaryOf(changes, 'EtcdClusterHealthy')).toBe(expected);
  });

  it.each<[string, Partial<Observation>, string]>([
    ['all exist', {}, 'True Healthy'],
    [
      'there is no scheduler',
      { scheduler: undefined },
      'False NotHealthy: scheduler: the Deployment does not exist yet',
    ],
    [
      'two are unavailable',
      {
        apiServer: deployment({ ...whole, availableReplicas: 2 }),
        controllerManager: deployment({ ...whole, availableReplicas: 0 }),
      },
      'False NotHealthy: API server: 2 of 3 replicas available; controller manager: 0 of 3 replicas available',
    ],
  ])('set ControlPlaneComponentsHealthy when %s', (_, changes, expected) => {
    expect(summaryOf(changes, 'ControlPlaneComponentsHealthy')).toBe(expected);
  });

  it.each<[string, ConditionUpdates, string]>([
    ['all phases are done', observation().phases, 'True Ready'],
    [
      'some have failed, without those that only wait for them',
      { EtcdClusterReady: failed('etcd: 2 of 3'), SchedulerReady: waiting, CACertificatesReady: failed('gone') },
      'False ReconcileFailed: gone; etcd: 2 of 3',
    ],
    [
      'some wait and one fails, with the reason of the one that fails',
      {
        EtcdClusterReady: conditionUpdate('False', 'WaitingForMembers', '2 of 3'),
        APIServerDeploymentsReady: conditionUpdate('False', 'WaitingForPods', '0 of 2'),
        SchedulerReady: conditionUpdate('False', 'PodsFailing', 'no image'),
        WorkloadCoreDNSReady: failed('refused'),
      },
      'False PodsFailing: no image; 2 of 3; 0 of 2; refused',
    ],
    [
      'some wait, with the reason of the first one',
      {
        APIServerDeploymentsReady: conditionUpdate('False', 'WaitingForPods', '0 of 2'),
        EtcdClusterReady: conditionUpdate('False', 'WaitingForMembers', '2 of 3'),
      },
      'False WaitingForMembers: 2 of 3; 0 of 2',
    ],
    [
      'a backup, a rotation or a node has a problem that does not affect the control plane',
      {
        ...observation().phases,
        EtcdBackupReady: failed('the store is full'),
        EtcdBackupVerified: failed('damaged'),
        CARotationReady: failed('waiting'),
        ServiceAccountKeyRotationReady: failed('waiting'),
        WorkloadKubeletCertificatesReady: failed('asks for another name'),
      },
      'True Ready',
    ],
  ])('set Ready when %s', (_, phases, expected) => {
    expect(summaryOf({ phases }, 'Ready')).toBe(expected);
  });

  it('set Initialized once and keep it', () => {
    expect(summaryOf({}, 'Initialized', true)).toBe('True Initialized');
    expect(summaryOf({}, 'Initialized', false)).toBe(
      'False NotInitialized: no worker can join yet: the condition WorkloadSetupReady has the cause',
    );
  });

  it('keep the conditions of the phases, and set neither Deleting nor Paused', () => {
    const phases = { EtcdClusterReady: failed('x') };
    expect(summarize(observation({ phases }), true)).toMatchObject({
      ...phases,
      Deleting: { status: 'False', reason: 'NotDeleting' },
      Paused: { status: 'False', reason: 'NotPaused' },
    });
  });
});

describe('readiness gates', () => {
  const network = 'example.org/NetworkReady';
  const written = (type: string, status: 'True' | 'False', message = '') => ({
    type,
    status,
    reason: 'Written',
    message,
    lastTransitionTime: now.toISOString(),
  });
  const gated = (conditionType: string, changes: Partial<Observation> = {}) => {
    const { spec } = observation();
    return summaryOf({ spec: { ...spec, readinessGates: [{ conditionType }] }, ...changes }, 'Ready');
  };
  const backups = (update: ReturnType<typeof failed>) => ({
    phases: { ...observation().phases, EtcdBackupReady: update },
  });

  it.each<[string, string, Partial<Observation>, string]>([
    [
      'nobody has written',
      network,
      {},
      `False ReadinessGate: readiness gate ${network}: no controller has written this condition yet`,
    ],
    [
      'is False',
      network,
      { previous: { conditions: [written(network, 'False', 'no node has it')] } },
      `False ReadinessGate: readiness gate ${network} is False: no node has it`,
    ],
    [
      'is False without a message',
      network,
      { previous: { conditions: [written(network, 'False')] } },
      `False ReadinessGate: readiness gate ${network} is False`,
    ],
    [
      'nobody has written, beside others',
      network,
      { previous: { conditions: [written('example.org/StorageReady', 'True')] } },
      `False ReadinessGate: readiness gate ${network}: no controller has written this condition yet`,
    ],
    [
      'nobody has written before there is any',
      network,
      { previous: {} },
      `False ReadinessGate: readiness gate ${network}: no controller has written this condition yet`,
    ],
    ['is True', network, { previous: { conditions: [written(network, 'True')] } }, 'True Ready'],
    [
      'Ready leaves out otherwise',
      'EtcdBackupReady',
      backups(failed('no such bucket')),
      'False ReadinessGate: readiness gate EtcdBackupReady is False: no such bucket',
    ],
    [
      'has become True in this reconcile',
      'EtcdBackupReady',
      {
        ...backups(succeeded),
        previous: { conditions: [written('EtcdBackupReady', 'False')] },
      },
      'True Ready',
    ],
    [
      'is a summary of this reconcile',
      'Available',
      { previous: { conditions: [written('Available', 'False')] } },
      'True Ready',
    ],
  ])('hold Ready back for a condition that %s', (_, type, changes, expected) => {
    expect(gated(type, changes)).toBe(expected);
  });

  it('give way to the step that blocks', () => {
    expect(gated(network, { phases: { ...observation().phases, SchedulerReady: failed('x') } })).toBe(
      'False ReconcileFailed: x',
    );
  });
});
