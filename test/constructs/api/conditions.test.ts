import { describe, expect, it } from 'vitest';
import { conditions, conditionTypes, isConditionType, severityOf } from '../../../constructs/api/conditions.ts';
import { sharedReasons } from '../../../constructs/api/severity.ts';

const reasons = [
  ...Object.values(conditions).flatMap(({ reasons }) => Object.keys(reasons)),
  ...Object.keys(sharedReasons),
];

describe('conditions', () => {
  it('have types and reasons in the format that Kubernetes requires', () => {
    const shape = /^[A-Z][A-Za-z0-9]*$/;
    expect([...conditionTypes, ...reasons].filter((name) => !shape.test(name))).toEqual([]);
  });

  it('contain those that Cluster API copies to the Cluster', () => {
    expect(conditionTypes).toEqual(
      expect.arrayContaining(['Available', 'RollingOut', 'ScalingUp', 'ScalingDown', 'Paused', 'Deleting']),
    );
  });

  it('do not use types of other controllers', () => {
    expect(isConditionType('Ready')).toBe(true);
    expect(isConditionType('Cordoned')).toBe(false);
    expect(isConditionType('toString')).toBe(false);
  });

  it('declare a severity for each reason, of their own or shared by all', () => {
    expect(severityOf('EtcdClusterHealthy', 'QuorumLost')).toBe('Warning');
    expect(severityOf('Available', 'NotAvailable')).toBe('Outage');
    expect(severityOf('CertificatesAvailable', 'NotAvailable')).toBe('Routine');
    expect(severityOf('SchedulerReady', 'ReconcileFailed')).toBe('Warning');
    expect(severityOf('SchedulerReady', 'ReconcileSucceeded')).toBe('Routine');
    expect(severityOf('EtcdClusterReady', 'ReconcileSucceeded')).toBe('Normal');
    expect(severityOf('SchedulerReady', 'ReasonOfALaterVersion')).toBe('Routine');
  });
});
