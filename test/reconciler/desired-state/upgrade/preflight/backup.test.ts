import { describe, expect, it } from 'vitest';
import type { HostedControlPlaneStatus } from '../../../../../constructs/api/status.ts';
import { backupProblem } from '../../../../../reconciler/desired-state/upgrade/preflight/observe-preflight.ts';
import { hostedCluster, hostedControlPlaneName, namespace } from '../../../../support/scope.ts';
import { conditionOf } from './conditions.ts';

const at = (day: number, hour = 12) => new Date(Date.UTC(2026, 10, day, hour));
const verifiedOn = (day: number): HostedControlPlaneStatus => ({
  etcd: { lastVerifiedBackup: { name: 'a-backup', time: at(day).toISOString(), restoreSeconds: 9 } },
});
const everyNight = { schedule: '0 2 * * *', secret: { name: 's3' } };
const metadata = { name: hostedControlPlaneName, namespace };

function problem(backup: object | undefined, status: HostedControlPlaneStatus | undefined, now = at(20)) {
  const { spec } = hostedCluster({ etcd: { replicas: 3, ...(backup ? { backup } : {}) } });
  return backupProblem({ metadata, spec, status }, now);
}

describe('backups before an upgrade', () => {
  it.each([
    ['there are none', undefined],
    ['they are not to be verified', { ...everyNight, verify: { disabled: true } }],
  ])('are no problem when %s', (_, backup) => {
    expect(problem(backup, undefined)).toBeUndefined();
  });

  it.each([
    ['the status is empty', undefined],
    ['the condition says that nothing failed', { conditions: [conditionOf('EtcdBackupVerified', 'True')] }],
  ])('are a problem while none was verified and %s', (_, status) => {
    expect(problem(everyNight, status)).toMatch(/^none has been verified yet: .* wait until/);
  });

  it('are a problem in the words of a verification that failed', () => {
    const failed = { ...verifiedOn(19), conditions: [conditionOf('EtcdBackupVerified', 'False', 'a flipped bit')] };
    expect(problem(everyNight, failed)).toBe('a flipped bit');
  });

  // Verified on the 1st: by default the backup of the night to the 8th is the next one.
  it.each([
    ['verified an hour ago', everyNight, at(1, 13)],
    ['whose seventh successor is verified now', everyNight, at(8, 3)],
    ['with one successor, of which each is verified', { ...everyNight, verify: { every: 1 } }, at(2, 3)],
    ['after one time of their own schedule', { ...everyNight, verify: { schedule: '0 4 * * *' } }, at(2, 5)],
  ])('prove something by one %s', (_, backup, now) => {
    expect(problem(backup, verifiedOn(1), now)).toBeUndefined();
  });

  it.each([
    ['with an eighth successor', everyNight, at(9, 3)],
    ['with two successors, of which each is verified', { ...everyNight, verify: { every: 1 } }, at(3, 3)],
    ['after two times of their own schedule', { ...everyNight, verify: { schedule: '0 4 * * *' } }, at(3, 5)],
  ])('prove nothing any more by one %s', (_, backup, now) => {
    expect(problem(backup, verifiedOn(1), now)).toMatch(
      /^the last verification, of a-backup, was on 2026-11-01T12:00:00.000Z, and .*overdue/,
    );
  });

  it('of a schedule that never occurs are a problem with that schedule', () => {
    expect(problem({ ...everyNight, schedule: '0 0 30 2 *' }, verifiedOn(1))).toMatch(/^etcd\.backup: .*never occurs/);
  });
});
