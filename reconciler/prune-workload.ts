import { renderWorkload } from '../constructs/workload/chart.ts';
import { isApplied } from './applied.ts';
import type { PhaseResult } from './engine/run-phases.ts';
import { HostedClusterNotReady } from './hosted/not-ready.ts';
import { addOns } from './phases/workload/add-ons.ts';
import { clusterInfo, kubeadmConfig, kubeletConfig } from './phases/workload/join-configuration.ts';
import { workloadRBAC } from './phases/workload/rbac.ts';
import type { Scope } from './phases/scope.ts';

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
