import { describe, expect, it } from 'vitest';
import type { StatefulSetObject } from '../../reconciler/kube/readiness.ts';
import { type Observation, summarize } from '../../reconciler/status.ts';
import { type Verdicts } from '../../reconciler/verdict.ts';
import {
  type Counts,
  deployment,
  etcd,
  failed,
  observation,
  succeeded,
  waiting,
  whole,
} from '../support/observation.ts';

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
