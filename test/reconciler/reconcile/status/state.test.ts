import { describe, expect, it } from 'vitest';
import { notCountedForReady } from '../../../../constructs/api/conditions.ts';
import type { Condition } from '../../../../constructs/api/status.ts';
import { besideReady, stateOf } from '../../../../reconciler/reconcile/status/state.ts';

/** `Type Status Reason`, as a condition. */
function condition(text: string): Condition {
  const [type = '', status = '', reason = ''] = text.split(' ');
  return {
    type,
    status: status as Condition['status'],
    reason,
    message: '',
    lastTransitionTime: '2026-11-21T12:00:00Z',
  };
}

const ready = 'Ready True Ready';
const unready = (reason: string) => `Ready False ${reason}`;

describe('the state of a control plane', () => {
  it.each<[text: string, kind: string, by: string | undefined, conditions: string[]]>([
    ['Unknown', 'unknown', undefined, []],
    ['Ready', 'ready', 'Ready', [ready]],
    [
      'Ready',
      'ready',
      'Ready',
      [ready, 'EtcdBackupReady True NotRequested', 'Awake True ReconcileSucceeded', 'Paused False NotPaused'],
    ],
    ['Ready, backups fail', 'impaired', 'EtcdBackupReady', [ready, 'EtcdBackupReady False BackupSecretInvalid']],
    ['Ready', 'ready', 'Ready', [ready, 'EtcdBackupReady False WaitingForMembers']],
    ['Ready, flags ignored', 'impaired', 'SpecSupported', [ready, 'SpecSupported False Overruled']],
    ['Ready, hibernation refused', 'impaired', 'Awake', [ready, 'Awake True HibernationRefused']],
    ['Ready, release outdated', 'impaired', 'SpecAccepted', [ready, 'SpecAccepted True AdoptionDue']],
    ['Ready, quarantined', 'impaired', 'Quarantined', [ready, 'Quarantined True HostedWorkApart']],
    [
      'Ready, backups fail, 2 more',
      'impaired',
      'EtcdBackupReady',
      [
        ready,
        'SpecSupported False Overruled',
        'EtcdBackupReady False StoreUnavailable',
        'EtcdBackupVerified False BackupUnusable',
      ],
    ],
    ['Paused', 'paused', 'Paused', [ready, 'Paused True Paused']],
    ['Paused', 'paused', 'Paused', [unready('PodsFailing'), 'Paused True Paused', 'SchedulerReady False PodsFailing']],
    ['Deleting', 'deleting', 'Deleting', [unready('Deleting'), 'Deleting True WaitingForPods']],
    ['Hibernated', 'hibernated', 'Awake', [unready('Hibernated'), 'Awake False Hibernated']],
    [
      'Hibernated',
      'hibernated',
      'Awake',
      [unready('Hibernated'), 'Awake False Hibernated', 'EtcdClusterReady False Hibernated'],
    ],
    ['Hibernating', 'hibernating', 'Awake', [unready('StoppingMembers'), 'Awake False StoppingMembers']],
    [
      'VolumesTerminating',
      'failing',
      'EtcdClusterReady',
      [unready('VolumesTerminating'), 'Awake False Hibernated', 'EtcdClusterReady False VolumesTerminating'],
    ],
    ['HibernationRefused', 'failing', 'Awake', [unready('HibernationRefused'), 'Awake False HibernationRefused']],
    [
      'WaitingForMembers',
      'waiting',
      'EtcdClusterReady',
      [unready('WaitingForMembers'), 'Awake False WaitingForOtherPhases', 'EtcdClusterReady False WaitingForMembers'],
    ],
    [
      'QuorumLost',
      'failing',
      'EtcdClusterHealthy',
      [unready('QuorumLost'), 'EtcdClusterHealthy False QuorumLost', 'EtcdClusterReady False WaitingForMembers'],
    ],
    ['PodsFailing', 'failing', 'SchedulerReady', [unready('PodsFailing'), 'SchedulerReady False PodsFailing']],
    [
      'RevisionFailed',
      'failing',
      'SpecAccepted',
      [unready('RevisionFailed'), 'SpecAccepted False RevisionFailed', 'SchedulerReady True ReconcileSucceeded'],
    ],
    ['WaitingForCluster', 'waiting', 'Ready', [unready('WaitingForCluster')]],
    ['ClusterMismatch', 'failing', 'Ready', [unready('ClusterMismatch')]],
    ['ReadinessGate', 'waiting', 'Ready', [unready('ReadinessGate')]],
    ['Ready', 'ready', 'Ready', [ready, 'example.com/Foreign False PodsFailing']],
  ])('is %s, which is %s, by %s', (text, kind, by, conditions) => {
    const state = stateOf(conditions.map(condition));
    expect({ ...state, condition: state.condition?.type }).toEqual({ kind, text, condition: by });
  });

  it('has words for everything that may be wrong beside Ready', () => {
    expect(notCountedForReady.filter((type) => !(type in besideReady))).toEqual([]);
  });

  it('fits into a column', () => {
    const longest = Math.max(...Object.values(besideReady).map(({ length }) => length));
    expect(`Ready, ${'x'.repeat(longest)}, 12 more`.length).toBeLessThanOrEqual(40);
  });
});
