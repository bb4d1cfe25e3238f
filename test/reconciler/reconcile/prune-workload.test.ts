import { expect, it } from 'vitest';
import { mergeFacts, type PhaseResult } from '../../../reconciler/engine/run-phases.ts';
import { HostedClusterNotReady } from '../../../reconciler/clusters/hosted/outage.ts';
import { pruneWorkload } from '../../../reconciler/reconcile/prune.ts';
import { phases } from '../../../reconciler/reconcile/phases.ts';
import type { HostedClient } from '../../../reconciler/clusters/hosted/hosted-client.ts';
import { conditionUpdate } from '../../../reconciler/engine/condition-update.ts';
import { objectsOf } from '../../../reconciler/kube/rendering.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { knownFacts } from '../../support/rendered-cluster.ts';
import { now, scopeOf } from '../../support/scope.ts';

const management = new MemoryObjects();
/** The results of all phases when everything works. */
const complete: PhaseResult[] = phases.map((phase) => ({
  phase,
  isDone: true,
  update: conditionUpdate('True', 'ReconcileSucceeded'),
  facts: knownFacts,
}));

/** What is kept, as `Kind name`; undefined if no pruning was requested. */
async function kept(results: readonly PhaseResult[], spec: object = {}): Promise<string[] | undefined> {
  let names: string[] | undefined;
  const prune: HostedClient['prune'] = async (keep) => {
    names = objectsOf(keep).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  };
  const facts = mergeFacts(results.map((result) => result.facts));
  await pruneWorkload({ ...scopeOf(management, { spec, hosted: { prune } }), facts }, results);
  return names;
}

const ended = (condition: string, result: Partial<PhaseResult>) =>
  complete.map((one) => (one.phase.condition === condition ? { ...one, ...result } : one));

it('keeps everything that is rendered', async () => {
  expect(await kept(complete)).toEqual(
    expect.arrayContaining([
      'ClusterRole hosted-control-plane:controller',
      'ConfigMap cluster-info',
      'Deployment coredns',
      'DaemonSet kube-proxy',
    ]),
  );
});

it('does not keep what is disabled', async () => {
  const names = await kept(complete, { coredns: { disabled: true } });
  expect(names).toContain('DaemonSet kube-proxy');
  expect(names).not.toContain('Deployment coredns');
});

it('does not keep a PodDisruptionBudget that would hold back the last node', async () => {
  const budgets = async (nodes: number) =>
    (await kept(complete.map((one) => ({ ...one, facts: { ...knownFacts, nodes } }))))?.filter((name) =>
      name.startsWith('PodDisruptionBudget'),
    );
  expect(await budgets(2)).toEqual(['PodDisruptionBudget coredns', 'PodDisruptionBudget konnectivity-agent']);
  expect(await budgets(1)).toEqual([]);
});

it('does not wait for pods, because a failed node must not prevent pruning', async () => {
  for (const reason of ['WaitingForPods', 'PodsFailing'] as const) {
    const waiting = ended('WorkloadKubernetesServiceReady', {
      isDone: false,
      update: conditionUpdate('False', reason),
    });
    expect(await kept(waiting)).toBeDefined();
  }
});

it.each(['WaitingForOtherPhases', 'ReconcileFailed', 'WaitingForAPIServer'] as const)(
  'does not prune while a part ended with %s, because not all rendered objects are known then',
  async (reason) => {
    const failed = ended('WorkloadCoreDNSReady', { isDone: false, update: conditionUpdate('False', reason) });
    expect(await kept(failed)).toBeUndefined();
  },
);

it('does not wait for phases outside the hosted cluster', async () => {
  const failed = ended('SchedulerReady', { isDone: false, update: conditionUpdate('False', 'ReconcileFailed') });
  expect(await kept(failed)).toBeDefined();
});

it('requeues when the hosted cluster could not be pruned', async () => {
  const prune = async () => {
    throw new HostedClusterNotReady('away', 2_000, undefined);
  };
  const facts = mergeFacts(complete.map((result) => result.facts));
  const requeueAt = await pruneWorkload({ ...scopeOf(management, { hosted: { prune } }), facts }, complete);
  expect(requeueAt).toEqual(new Date(now.getTime() + 2_000));
});
