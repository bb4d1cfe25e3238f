import { fieldManager } from '../constructs/api/group.ts';
import {
  CiliumNetworkPolicy,
  ConfigMap,
  Deployment,
  Ingress,
  IngressRouteTCP,
  NetworkPolicy,
  PodDisruptionBudget,
  type Resource,
  Service,
  StatefulSet,
  TLSRoute,
} from '../constructs/api/resources.ts';
import { renderControlPlane } from '../constructs/control-plane/chart.ts';
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

/** Kinds of the chart. Secrets are none of it: keys are never deleted because of a render. */
const prunable = [Service, ConfigMap, Deployment, StatefulSet, PodDisruptionBudget, TLSRoute, Ingress, IngressRouteTCP];

/** Kinds that one phase alone renders. They go although another phase waits: a policy may be what it waits for. */
const policies = [NetworkPolicy, CiliumNetworkPolicy];

/**
 * Deletes what was rendered once and is not any more, such as the budget of a workload that has one replica now.
 * @param facts what all phases together have found
 */
export async function prune(
  applySet: Pick<ApplySet, 'prune'>,
  key: string,
  { cluster, reader, facts }: Pick<Scope, 'cluster' | 'reader' | 'facts'>,
  results: readonly PhaseResult[],
): Promise<void> {
  const kinds = renderedInFull(results);
  if (kinds.length === 0) return;
  const inventory = kinds.flatMap((resource) => reader.list(resource, { [managedByLabel]: fieldManager }));
  await applySet.prune(key, renderControlPlane(cluster, facts), inventory);
}

/** What has not been rendered in full says nothing about what is surplus. */
function renderedInFull(results: readonly PhaseResult[]): readonly Resource[] {
  if (results.every(isApplied)) return [...prunable, ...policies];
  return results.some(({ phase, isDone }) => phase === networkPolicies && isDone) ? policies : [];
}

/** The phases that apply a part of the workload chart; together they apply all of it. */
const rendering = [workloadRBAC, clusterInfo, kubeadmConfig, kubeletConfig, ...addOns];

/**
 * Deletes in the hosted cluster what was rendered once and is not any more, such as an add-on that was disabled.
 * Returns when to try again, if that is necessary.
 * @param facts what all phases together have found
 */
export async function pruneWorkload(
  { cluster, hosted, facts, now }: Pick<Scope, 'cluster' | 'hosted' | 'facts' | 'now'>,
  results: readonly PhaseResult[],
): Promise<Date | undefined> {
  // What has not been rendered in full says nothing about what is surplus.
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

/**
 * Whether what a phase renders is there, all of it. That of an add-on is although none of its pods runs: a node that is
 * ill must not keep anything from being removed.
 */
function isApplied({ phase, isDone, update }: PhaseResult): boolean {
  return isDone || (addOns.some((addOn) => addOn === phase) && update.reason === 'WaitingForPods');
}
