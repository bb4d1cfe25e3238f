import { describe, expect, it } from 'vitest';
import { conditionTypes, type ConditionType } from '../../../constructs/api/conditions.ts';
import {
  mergeFacts,
  mergeReports,
  type Phase,
  type PhaseResult,
  phaseConditions,
  runPhases,
  throwUnexpected,
} from '../../../reconciler/engine/run-phases.ts';
import {
  degraded,
  done,
  InvalidConfiguration,
  notObserved,
  type Outcome,
  wait,
} from '../../../reconciler/engine/outcome.ts';
import type { StatusReport } from '../../../reconciler/engine/status-report.ts';
import { phases } from '../../../reconciler/reconcile/phases.ts';
import type { Scope } from '../../../reconciler/phases/scope.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { now, scopeOf } from '../../support/scope.ts';

const scope = scopeOf(new MemoryObjects(), { facts: { certificates: { ca: '1' }, advertiseAddress: '192.0.2.1' } });

function phase(
  condition: ConditionType,
  needs: readonly Phase<Scope>[],
  run: (scope: Scope) => Outcome | Promise<Outcome> = () => done(),
): Phase<Scope> {
  return { condition, needs, run: async (seen) => run(seen) };
}

async function resultsOf(...given: Phase<Scope>[]): Promise<Map<ConditionType, PhaseResult>> {
  const results = await runPhases(given, scope);
  return new Map(results.map((result) => [result.phase.condition, result]));
}

describe('running phases', () => {
  it('runs independent phases concurrently, and each phase once', async () => {
    const meeting = Promise.withResolvers<void>();
    let runs = 0;
    const root = phase('CACertificatesReady', [], () => {
      runs++;
      return done();
    });
    const waits = phase('EtcdClusterReady', [root], () => meeting.promise.then(() => done()));
    const frees = phase('CertificatesReady', [root], () => {
      meeting.resolve();
      return done();
    });
    // Would never end if the second one were started after the end of the first one.
    const results = await resultsOf(waits, frees, root);
    expect([...results.values()].map(({ isDone }) => isDone)).toEqual([true, true, true]);
    expect(runs).toBe(1);
  });

  it('blocks only the dependents of a waiting phase, and names it in their conditions', async () => {
    const service = phase('APIServerServiceReady', [], () => wait('WaitingForLoadBalancerAddress', 'no address yet'));
    const endpoint = phase('SyncControlPlaneEndpointReady', [service]);
    const certificates = phase('CertificatesReady', [endpoint]);
    const other = phase('EtcdClusterReady', []);
    const results = await runPhases([service, endpoint, certificates, other], scope);
    expect(phaseConditions(results)).toEqual({
      APIServerServiceReady: { status: 'False', reason: 'WaitingForLoadBalancerAddress', message: 'no address yet' },
      SyncControlPlaneEndpointReady: waitingFor('APIServerServiceReady'),
      CertificatesReady: waitingFor('SyncControlPlaneEndpointReady'),
      EtcdClusterReady: { status: 'True', reason: 'ReconcileSucceeded', message: '' },
    });
  });

  it('names every phase that a phase waits for', async () => {
    const a = phase('EtcdCertificatesReady', [], () => wait('WaitingForPods', ''));
    const b = phase('CertificatesReady', [], () => wait('WaitingForPods', ''));
    const results = await resultsOf(phase('APIServerDeploymentsReady', [a, b]));
    expect(results.get('APIServerDeploymentsReady')?.update).toEqual(
      waitingFor('EtcdCertificatesReady, CertificatesReady'),
    );
  });

  it('does not know the condition of a phase that waits only for what was not observed yet', async () => {
    const unseen = phase('APIServerReachable', [], () => notObserved('no answer yet'));
    const known = phase('WorkloadRBACReady', [], () => wait('WaitingForAPIServer', ''));
    const both = phase('WorkloadSetupReady', [unseen, known]);
    const results = await resultsOf(both, phase('WorkloadClusterInfoReady', [unseen]));
    expect(results.get('WorkloadClusterInfoReady')?.update.reason).toBe('NotObserved');
    expect(results.get('WorkloadSetupReady')?.update).toEqual(waitingFor('APIServerReachable, WorkloadRBACReady'));
  });

  it.each<[string, unknown, object]>([
    [
      'an error',
      new Error('apply Secret a/b: refused'),
      { reason: 'ReconcileFailed', message: 'apply Secret a/b: refused' },
    ],
    ['a value that is not an error', 'text', { reason: 'ReconcileFailed', message: 'text' }],
    [
      'a configuration error',
      new InvalidConfiguration('EndpointMismatch', 'other port'),
      { reason: 'EndpointMismatch', message: 'other port' },
    ],
  ])('confines %s to the phase that threw it and its dependents', async (_, thrown, update) => {
    const failing = phase('SchedulerReady', [], () => {
      throw thrown;
    });
    const results = await resultsOf(failing, phase('WorkloadSetupReady', [failing]), phase('EtcdClusterReady', []));
    expect(results.get('SchedulerReady')).toMatchObject({
      isDone: false,
      error: thrown,
      update: { status: 'False', ...update },
    });
    expect(results.get('WorkloadSetupReady')).toMatchObject({ update: waitingFor('SchedulerReady') });
    expect(results.get('WorkloadSetupReady')?.error).toBeUndefined();
    expect(results.get('EtcdClusterReady')?.isDone).toBe(true);
  });

  it('runs the dependents of a degraded phase with its facts', async () => {
    const endpoint = { host: 'api.example.test', port: 443 };
    const first = phase('SyncControlPlaneEndpointReady', [], () =>
      degraded('GatewayNotFound', 'gone', { facts: { endpoint } }),
    );
    let seen: unknown;
    const second = phase('CertificatesReady', [first], ({ facts }) => {
      seen = facts.endpoint;
      return done();
    });
    expect(phaseConditions(await runPhases([first, second], scope))).toEqual({
      SyncControlPlaneEndpointReady: { status: 'False', reason: 'GatewayNotFound', message: 'gone' },
      CertificatesReady: { status: 'True', reason: 'ReconcileSucceeded', message: '' },
    });
    expect(seen).toEqual(endpoint);
  });

  it('passes facts to dependents only, and merges certificates', async () => {
    const seen = new Map<string, unknown>();
    const see = (name: ConditionType, needs: readonly Phase<Scope>[]) =>
      phase(name, needs, ({ facts }) => {
        seen.set(name, {
          certificates: facts.certificates,
          host: facts.endpoint?.host,
          address: facts.advertiseAddress,
        });
        return done();
      });
    const first = phase('CACertificatesReady', [], () =>
      done({ certificates: { sa: '2' }, endpoint: { host: 'old', port: 1 } }),
    );
    const second = phase('CertificatesReady', [first], () =>
      done({ certificates: { tls: '3' }, endpoint: { host: 'new', port: 1 }, advertiseAddress: undefined }),
    );
    const unrelated = phase('EtcdCertificatesReady', [], () => done({ certificates: { etcd: '4' } }));
    await resultsOf(unrelated, see('APIServerDeploymentsReady', [second]), see('EtcdClusterReady', [unrelated]));
    expect(Object.fromEntries(seen)).toEqual({
      APIServerDeploymentsReady: { certificates: { ca: '1', sa: '2', tls: '3' }, host: 'new', address: '192.0.2.1' },
      EtcdClusterReady: { certificates: { ca: '1', etcd: '4' }, host: undefined, address: '192.0.2.1' },
    });
  });

  it.each<[string, Outcome, number | undefined]>([
    ['the time that a finished phase returns', done({}, new Date(now.getTime() + 5000)), 5000],
    ['no time for a finished phase that returns none', done(), undefined],
    ['the delay of a waiting phase', wait('WaitingForPods', '', { afterMs: 1000 }), 1000],
    ['no time if an event will trigger the reconcile', wait('WaitingForPods', ''), undefined],
  ])('requeues at %s', async (_, outcome, afterMs) => {
    const result = (await resultsOf(phase('EtcdClusterReady', [], () => outcome))).get('EtcdClusterReady');
    expect(result?.requeueAt?.getTime()).toBe(afterMs === undefined ? undefined : now.getTime() + afterMs);
  });
});

describe('the reports of phases', () => {
  const reporting = (condition: ConditionType, report: StatusReport) =>
    phase(condition, [], () => done({}, undefined, { report }));

  it('are merged for the status: later phases win, and phases without a report change nothing', async () => {
    const results = await runPhases(
      [
        reporting('EtcdBackupReady', { etcdVolumeUsage: '1Gi', etcd: { clusterID: '1267' } }),
        phase('SchedulerReady', []),
        reporting('EtcdClusterReady', { etcdVolumeUsage: '2Gi', etcd: { members: [] } }),
      ],
      scope,
    );
    expect(mergeReports(results)).toEqual({ etcdVolumeUsage: '2Gi', etcd: { clusterID: '1267', members: [] } });
    expect(mergeReports([])).toEqual({ etcd: {} });
  });

  it('merge mounts as they merge certificates', () => {
    const [one, other] = [{ volume: 'one' }, { volume: 'other' }];
    expect(mergeFacts([{ mounts: one }, {}, { mounts: { ...other, more: 'x' } }])).toEqual({
      certificates: {},
      mounts: { volume: 'other', more: 'x' },
    });
  });
});

describe('an error of a phase', () => {
  const throwing = async (...errors: unknown[]) => {
    const types = ['EtcdClusterReady', 'SchedulerReady', 'CertificatesReady'] as const;
    const results = await runPhases(
      errors.map((error, index) =>
        phase(types[index] ?? 'EtcdBackupReady', [], () => {
          throw error;
        }),
      ),
      scope,
    );
    return () => throwUnexpected(results);
  };
  const [one, other] = [new Error('apply Secret a/b: refused'), new Error('list Pods: no answer')];
  const mistake = new InvalidConfiguration('EndpointMismatch', 'other port');

  it('is thrown as it is if it is the only one', async () => {
    expect(await throwing(one, mistake)).toThrow(one);
  });

  it('is aggregated with others', async () => {
    const thrown = await throwing(one, mistake, other);
    expect(thrown).toThrow(AggregateError);
    expect(thrown).toThrow('Error: apply Secret a/b: refused; Error: list Pods: no answer');
  });

  it('is not thrown if only the user can resolve it, or if there is none', async () => {
    expect(await throwing(mistake)).not.toThrow();
    expect(await throwing()).not.toThrow();
    const results = await runPhases([phase('EtcdClusterReady', [])], scope);
    expect(() => throwUnexpected(results)).not.toThrow();
  });
});

describe('the phases of a control plane', () => {
  it('have the needs in this table', () => {
    const table = phases.map(
      ({ condition, needs, after = [] }) =>
        `${condition} ← ${[...needs.map((need) => need.condition), ...after.map((one) => `(${one.condition})`)].join(', ') || 'nothing'}`,
    );
    expect(table.join('\n')).toMatchInlineSnapshot(`
      "SpecAccepted ← nothing
      ClocksAgree ← nothing
      ClusterNetworkUnchanged ← nothing
      NetworkPoliciesReady ← nothing
      CACertificatesReady ← nothing
      EtcdCertificatesReady ← CACertificatesReady
      EtcdRestoreReady ← EtcdCertificatesReady
      EtcdClusterReady ← EtcdCertificatesReady, EtcdRestoreReady
      NoMovePending ← EtcdRestoreReady
      Awake ← EtcdRestoreReady, NoMovePending
      EtcdBackupReady ← EtcdCertificatesReady
      EtcdBackupVerified ← EtcdCertificatesReady
      APIServerServiceReady ← nothing
      SyncControlPlaneEndpointReady ← APIServerServiceReady
      APIServerTLSRoutesReady ← SyncControlPlaneEndpointReady
      CertificatesReady ← CACertificatesReady, SyncControlPlaneEndpointReady
      EncryptionAtRestReady ← EtcdCertificatesReady, CertificatesReady
      AdminKubeconfigReady ← CACertificatesReady, SyncControlPlaneEndpointReady
      KubeconfigsReady ← CACertificatesReady, SyncControlPlaneEndpointReady
      APIServerConfigurationAccepted ← SpecAccepted, CertificatesReady, EtcdCertificatesReady
      UpgradePreflightSucceeded ← CertificatesReady, AdminKubeconfigReady
      AuditReady ← nothing
      APIServerDeploymentsReady ← CertificatesReady, EtcdCertificatesReady, EtcdRestoreReady, NoMovePending, Awake, EncryptionAtRestReady, APIServerConfigurationAccepted, AuditReady
      ControllerManagerReady ← CertificatesReady, Awake, (APIServerDeploymentsReady)
      SchedulerReady ← CertificatesReady, Awake, (APIServerDeploymentsReady)
      UpgradeHoldEnded ← ControllerManagerReady, SchedulerReady
      APIServerReachable ← Awake, APIServerTLSRoutesReady, AdminKubeconfigReady, CertificatesReady, (APIServerDeploymentsReady)
      WorkloadRBACReady ← Awake, CertificatesReady, AdminKubeconfigReady, (APIServerDeploymentsReady)
      WorkloadClusterInfoReady ← WorkloadRBACReady
      WorkloadKubeadmConfigReady ← WorkloadRBACReady
      WorkloadKubeletConfigReady ← WorkloadRBACReady
      WorkloadKubeletCertificatesReady ← WorkloadRBACReady
      WorkloadKubeProxyReady ← WorkloadRBACReady
      WorkloadCoreDNSReady ← WorkloadRBACReady
      WorkloadKonnectivityReady ← WorkloadRBACReady
      WorkloadInClusterAccessReady ← WorkloadRBACReady
      WorkloadKubernetesServiceReady ← WorkloadRBACReady
      WorkloadSetupReady ← WorkloadRBACReady, WorkloadClusterInfoReady, WorkloadKubeadmConfigReady, WorkloadKubeletConfigReady, APIServerReachable
      CARotationReady ← EtcdCertificatesReady, CertificatesReady, AdminKubeconfigReady
      ServiceAccountKeyRotationReady ← CertificatesReady"
    `);
  });

  it('need only phases that come before them in the list, so that there is no cycle', () => {
    const misplaced = phases.flatMap(({ condition, needs, after = [] }, index) =>
      [...needs, ...after]
        .filter((need) => !phases.slice(0, index).some((one) => one === need))
        .map((need) => [condition, need.condition]),
    );
    expect(misplaced).toEqual([]);
  });

  it('have one condition each, and every condition of a step has its phase', () => {
    const isStep = (type: string) =>
      /(Ready|Accepted)$/.test(type) ||
      [
        'APIServerReachable',
        'ClocksAgree',
        'ClusterNetworkUnchanged',
        'EtcdBackupVerified',
        'UpgradePreflightSucceeded',
        'UpgradeHoldEnded',
        'NoMovePending',
        'Awake',
      ].includes(type);
    const steps = conditionTypes.filter((type) => isStep(type) && type !== 'Ready');
    expect(phases.map(({ condition }) => condition).sort()).toEqual([...steps].sort());
  });

  it('start etcd without anything of the API server, and do not wait for the health of etcd', () => {
    const etcd = phases.find(({ condition }) => condition === 'EtcdClusterReady');
    expect([...new Set(allNeeds(etcd).map(({ condition }) => condition))]).toEqual([
      'EtcdCertificatesReady',
      'CACertificatesReady',
      'EtcdRestoreReady',
    ]);
    expect(phases.filter(({ needs }) => needs.some((need) => need === etcd))).toEqual([]);
  });
});

function allNeeds(of: Phase<Scope> | undefined): Phase<Scope>[] {
  return (of?.needs ?? []).flatMap((need) => [need, ...allNeeds(need)]);
}

function waitingFor(names: string): object {
  return { status: 'False', reason: 'WaitingForOtherPhases', message: `waiting for ${names}` };
}
