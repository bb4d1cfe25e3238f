import { fieldManager } from '../constructs/api/group.ts';
import type { Resource } from '../constructs/api/resources.ts';
import { type Part, renderControlPlane } from '../constructs/control-plane/chart.ts';
import { policyKinds, renderedKinds } from '../constructs/control-plane/kinds.ts';
import { managedByLabel } from '../constructs/cluster/labels.ts';
import { renderWorkload } from '../constructs/workload/chart.ts';
import { HostedClusterNotReady } from './hosted/not-ready.ts';
import { addOns } from './phases/workload/add-ons.ts';
import { clusterInfo, kubeadmConfig, kubeletConfig } from './phases/workload/join-configuration.ts';
import { workloadRBAC } from './phases/workload/rbac.ts';
import type { PhaseResult } from './engine/run-phases.ts';
import type { ApplySet } from './kube/apply-set.ts';
import { networkPolicies } from './phases/network-policies.ts';
import type { Scope } from './phases/scope.ts';

/**
 * Deletes objects that are no longer rendered, such as the PodDisruptionBudget of a workload that now has one replica.
 * @param facts the facts of all phases
 */
export async function prune(
  applySet: Pick<ApplySet, 'prune'>,
  key: string,
  { cluster, reader, facts }: Pick<Scope, 'cluster' | 'reader' | 'facts'>,
  results: readonly PhaseResult[],
): Promise<void> {
  const { kinds, only } = renderedInFull(results);
  const inventory = kinds.flatMap((resource) => reader.list(resource, { [managedByLabel]: fieldManager }));
  if (inventory.length === 0) return;
  await applySet.prune(key, renderControlPlane(cluster, facts, only), inventory);
}

/**
 * The kinds that are rendered in full, and the only part of the chart that renders them, if there is one. An incomplete render
 * does not show which objects are surplus.
 */
function renderedInFull(results: readonly PhaseResult[]): {
  readonly kinds: readonly Resource[];
  readonly only?: Part;
} {
  if (results.every(isApplied)) return { kinds: renderedKinds };
  const isDone = results.some((result) => result.phase === networkPolicies && result.isDone);
  // Another phase may wait for a policy.
  return isDone ? { kinds: policyKinds, only: 'network-policies' } : { kinds: [] };
}

/** The phases that apply a part of the workload chart; together they apply all of it. */
const rendering = [workloadRBAC, clusterInfo, kubeadmConfig, kubeletConfig, ...addOns];

/**
 * Deletes objects in the hosted cluster that are no longer rendered, such as a disabled add-on. Returns when to try
 * again, if necessary.
 * @param facts the facts of all phases
 */
export async function pruneWorkload(
  { cluster, hosted, facts, now }: Pick<Scope, 'cluster' | 'hosted' | 'facts' | 'now'>,
  results: readonly PhaseResult[],
): Promise<Date | undefined> {
  // An incomplete render does not show which objects are surplus.
  if (!results.filter(({ phase }) => rendering.some((one) => one === phase)).every(isApplied)) return undefined;
  const { endpoint } = facts;
  if (!endpoint) return undefined;
  try {
    await hosted({ ...facts, endpoint }).prune(renderWorkload(cluster, facts));
    return undefined;
  } catch (error) {
    if (error instanceof HostedClusterNotReady) return new Date(now.getTime() + error.afterMs);
    throw error;
  }
}

/** Reasons why an add-on is not ready although its objects are applied. */
const whenApplied: readonly string[] = ['WaitingForPods', 'PodsFailing'];

/**
 * Whether all objects of a phase are applied. For an add-on this is true even if none of its pods runs: an unhealthy
 * node must not prevent pruning.
 */
function isApplied({ phase, isDone, update }: PhaseResult): boolean {
  return isDone || (addOns.some((addOn) => addOn === phase) && whenApplied.includes(update.reason));
}
