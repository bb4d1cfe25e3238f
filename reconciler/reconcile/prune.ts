import { fieldManager } from '../../constructs/api/group.ts';
import type { Resource } from '../../constructs/api/resources.ts';
import type { Part } from '../../constructs/control-plane/chart.ts';
import { policyKinds, renderedKinds } from '../../constructs/control-plane/kinds.ts';
import { managedByLabel } from '../../constructs/cluster/labels.ts';
import { HostedClusterNotReady } from '../clusters/hosted/outage.ts';
import { addOns } from '../phases/workload/add-ons.ts';
import { clusterInfo, kubeadmConfig, kubeletConfig } from '../phases/workload/join-configuration.ts';
import { workloadRBAC } from '../phases/workload/rbac.ts';
import type { PhaseResult } from '../engine/run-phases.ts';
import type { ApplySet } from '../kube/apply-set.ts';
import { apiServer } from '../phases/api-server.ts';
import { networkPolicies } from '../phases/network-policies.ts';
import type { Scope } from '../phases/scope.ts';
import { controlPlaneChart, workloadChart } from '../phases/charts.ts';

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
  // The phase has rendered that part from other facts.
  const chart = controlPlaneChart(cluster, facts, only);
  await applySet.prune(key, { ...chart, part: `all of ${chart.part}` }, inventory);
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
  const isDone = results.some((result) => result.phase === networkPolicies && isApplied(result));
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
  { followers, hosted, facts, now }: Pick<Scope, 'followers' | 'hosted' | 'facts' | 'now'>,
  results: readonly PhaseResult[],
): Promise<Date | undefined> {
  // An incomplete render does not show which objects are surplus.
  if (!results.filter(({ phase }) => rendering.some((one) => one === phase)).every(isApplied)) return undefined;
  const { endpoint } = facts;
  if (!endpoint) return undefined;
  try {
    await hosted({ ...facts, endpoint }).prune(workloadChart(followers, facts));
    return undefined;
  } catch (error) {
    if (error instanceof HostedClusterNotReady) return new Date(now.getTime() + error.afterMs);
    throw error;
  }
}

/** Reasons why pods are not ready although their objects are applied. */
const whenApplied: readonly string[] = ['WaitingForPods', 'PodsFailing'];

/** Reasons of phases that others do not wait for, although an object is not what it should be: what it replaces is still in use. */
const whenNotApplied: readonly string[] = ['ObjectRefused', 'ObjectContested', 'MountMissing', 'WaitingForOtherPhases'];

/**
 * Whether all objects of a phase are applied and in use. For an add-on this is true even if none of its pods runs: an unhealthy
 * node must not prevent pruning. API servers of before may use what is no longer rendered.
 */
function isApplied({ phase, isDone, update }: PhaseResult): boolean {
  if (phase === apiServer && whenApplied.includes(update.reason)) return false;
  if (addOns.some((addOn) => addOn === phase) && whenApplied.includes(update.reason)) return true;
  return isDone && !whenNotApplied.includes(update.reason);
}
