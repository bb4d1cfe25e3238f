import { expect, it } from 'vitest';
import { type ConditionReason, type ConditionType, conditionTypes } from '../../../../constructs/api/conditions.ts';
import type { Condition } from '../../../../constructs/api/status.ts';
import type { EventNote } from '../../../../reconciler/kube/events.ts';
import { type ConditionUpdate, conditionUpdate } from '../../../../reconciler/engine/condition-update.ts';
import { createLogger } from '../../../../reconciler/engine/log.ts';
import { reportTransition } from '../../../../reconciler/reconcile/status/transition.ts';
import { hostedControlPlaneObject } from '../../../support/scope.ts';

/** @param before the reason until now, with status False; undefined if there was no condition */
function report(
  type: ConditionType,
  decided: ConditionUpdate,
  { before, isInitialized = false }: { readonly before?: string | undefined; readonly isInitialized?: boolean } = {},
): { lines: Record<string, unknown>[]; notes: EventNote[] } {
  const lines: Record<string, unknown>[] = [];
  const notes: EventNote[] = [];
  const log = createLogger(
    { format: 'json', level: 'info' },
    { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const condition: Condition | undefined =
    before === undefined
      ? undefined
      : { type, status: 'False', reason: before, message: '', lastTransitionTime: '2026-11-21T12:00:00Z' };
  const transition = { object: hostedControlPlaneObject(), type, update: decided, before: condition, isInitialized };
  reportTransition(transition, log, { record: (_, note) => notes.push(note) });
  return { lines, notes };
}

const waiting = conditionUpdate('False', 'WaitingForOtherPhases', 'waiting for X');
const failed = conditionUpdate('False', 'ReconcileFailed', 'apply Secret a/b: refused');

it.each<[string, ConditionType, ConditionUpdate, Partial<EventNote> | undefined]>([
  [
    'a phase that is done',
    'EtcdClusterReady',
    conditionUpdate('True', 'ReconcileSucceeded'),
    { type: 'Normal', reason: 'EtcdClusterReady', note: 'etcd serves requests' },
  ],
  [
    'a phase whose end is not worth an event',
    'SchedulerReady',
    conditionUpdate('True', 'ReconcileSucceeded'),
    undefined,
  ],
  [
    'a phase that waits for something that every bring-up waits for',
    'EtcdClusterReady',
    conditionUpdate('False', 'WaitingForMembers', '1 of 3'),
    undefined,
  ],
  [
    'a step that is worth an event',
    'EtcdClusterReady',
    conditionUpdate('False', 'ChangingMembers', 'c1-etcd-1 joins'),
    { type: 'Normal', reason: 'ChangingMembers', note: 'c1-etcd-1 joins' },
  ],
  [
    "a user's CA that is about to expire",
    'CARotationReady',
    conditionUpdate('False', 'CAExpiring', 'cluster CA: put the next one'),
    { type: 'Warning', reason: 'CAExpiring', note: 'cluster CA: put the next one' },
  ],
  ['a phase that waits for another one', 'EtcdClusterReady', waiting, undefined],
  [
    'a phase that fails',
    'EtcdClusterReady',
    failed,
    { type: 'Warning', reason: 'ReconcileFailed', action: 'EtcdClusterReady', note: 'apply Secret a/b: refused' },
  ],
  [
    'an accepted spec that is warned of',
    'SpecAccepted',
    conditionUpdate('True', 'AdoptionDue', 'rendered by release revision 1'),
    { type: 'Warning', reason: 'AdoptionDue', note: 'rendered by release revision 1' },
  ],
  ['an argument without effect', 'SpecSupported', conditionUpdate('False', 'Overruled', 'kube-scheduler'), undefined],
  ['arguments that all have an effect', 'SpecSupported', conditionUpdate('True', 'Supported'), undefined],
  [
    'an invalid spec',
    'Ready',
    conditionUpdate('False', 'InvalidConfiguration', 'spec.version: no'),
    { type: 'Warning', note: 'spec.version: no' },
  ],
  [
    'an unusable backup',
    'EtcdBackupVerified',
    conditionUpdate('False', 'BackupUnusable', 'backup x: damaged'),
    { type: 'Warning', reason: 'BackupUnusable', note: 'backup x: damaged' },
  ],
  [
    'an unreachable backup store',
    'EtcdBackupReady',
    conditionUpdate('False', 'StoreUnavailable', 'the store cannot be reached'),
    { type: 'Warning', reason: 'StoreUnavailable', note: 'the store cannot be reached' },
  ],
  ['a cluster without backups', 'EtcdBackupVerified', conditionUpdate('True', 'NotRequested'), undefined],
  [
    'readiness',
    'Ready',
    conditionUpdate('True', 'Ready'),
    { type: 'Normal', reason: 'Ready', note: 'everything the spec asks for exists and works' },
  ],
  ['missing readiness, which the phases report', 'Ready', conditionUpdate('False', 'ReconcileFailed', 'x'), undefined],
  ['a deletion, which has its own condition', 'Ready', conditionUpdate('False', 'Deleting', 'x'), undefined],
  ['a missing owner', 'Ready', conditionUpdate('False', 'WaitingForCluster', 'x'), { reason: 'WaitingForCluster' }],
  ['a control plane that is not up yet', 'Available', conditionUpdate('False', 'NotAvailable', 'x'), undefined],
  ['the first availability', 'Available', conditionUpdate('True', 'Available'), { reason: 'Available' }],
  ['a deletion', 'Deleting', conditionUpdate('True', 'WaitingForPods', 'x'), { reason: 'Deleting', note: 'x' }],
  ['a pause', 'Paused', conditionUpdate('True', 'Paused', 'x'), { reason: 'Paused' }],
  ['the end of a pause', 'Paused', conditionUpdate('False', 'NotPaused'), undefined],
  ['a rollout, which its phases report', 'RollingOut', conditionUpdate('True', 'RollingOut'), undefined],
])('logs one line for %s and records an event if it has news', (_, type, decided, event) => {
  const { lines, notes } = report(type, decided);
  expect(lines).toMatchObject([
    {
      level: decided.reason === 'ReconcileFailed' ? 'warn' : 'info',
      hostedControlPlane: 'team/c1-x7k2p',
      condition: type,
      status: decided.status,
      reason: decided.reason,
    },
  ]);
  expect(notes).toMatchObject(event ? [event] : []);
});

it.each<[ConditionType, ConditionReason]>([
  ['Available', 'NotAvailable'],
  ['APIServerReachable', 'EndpointUnreachable'],
  ['EtcdClusterHealthy', 'QuorumLost'],
  ['EtcdClusterHealthy', 'DataLost'],
  ['EtcdClusterHealthy', 'SpaceExhausted'],
  ['CACertificatesReady', 'CACertificateMissing'],
  ['EncryptionAtRestReady', 'EncryptionKeysMissing'],
  ['SyncControlPlaneEndpointReady', 'HostClaimed'],
  ['EtcdBackupVerified', 'VerificationFailed'],
])('records a Warning when %s becomes %s once workers can join', (type, reason) => {
  const { notes } = report(type, conditionUpdate('False', reason, 'x'), { isInitialized: true });
  expect(notes).toMatchObject([{ type: 'Warning', reason, note: 'x' }]);
});

it.each<[string, ConditionType, string, boolean, object[]]>([
  [
    'a Warning',
    'CACertificatesReady',
    'CACertificateMissing',
    false,
    [{ type: 'Normal', reason: 'CACertificatesReady' }],
  ],
  ['an outage', 'APIServerReachable', 'EndpointUnreachable', true, [{ type: 'Normal', reason: 'APIServerReachable' }]],
  ['the wait for the first answer', 'APIServerReachable', 'EndpointUnreachable', false, []],
  ['a routine wait', 'SchedulerReady', 'WaitingForPods', true, []],
])('records the end of %s unless it was routine', (_, type, before, isInitialized, expected) => {
  const { notes } = report(type, conditionUpdate('True', 'ReconcileSucceeded'), { before, isInitialized });
  expect(notes).toMatchObject(expected);
});

it('says of a fault that ends with the request that nothing is asked for any more', () => {
  const { notes } = report('EtcdBackupReady', conditionUpdate('True', 'NotRequested'), { before: 'StoreUnavailable' });
  expect(notes).toMatchObject([{ type: 'Normal', note: 'the spec asks for none of it any more' }]);
});

it('is no Warning that a control plane serves no more because a user has stopped it, or starts it again', () => {
  for (const reason of ['StoppingAPIServers', 'Hibernated', 'WakingUp'] as const)
    expect(report('Available', conditionUpdate('False', reason, 'x'), { isInitialized: true }).notes).toEqual([]);
});

it('says in events what is so, and not what a condition may mean', () => {
  for (const type of conditionTypes) {
    const { notes } = report(type, conditionUpdate('True', 'ReconcileSucceeded'), { before: 'ReconcileFailed' });
    for (const { note } of notes) expect(note).not.toMatch(/;|otherwise|unless|always|False|True/);
  }
});
