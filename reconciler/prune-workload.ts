import { renderWorkload } from '../constructs/workload/chart.ts';
import { isApplied } from './applied.ts';
import { mergeFacts, type PhaseResult } from './graph.ts';
import { HostedClusterNotReady } from './hosted/not-ready.ts';
import { addOns } from './phases/workload/add-ons.ts';
import { clusterInfo, kubeadmConfig, kubeletConfig } from './phases/workload/join-configuration.ts';
import { workloadRBAC } from './phases/workload/rbac.ts';
import type { Scope } from './scope.ts';

/** The phases that apply a part of the workload chart; together they apply all of it. */
const rendering = [workloadRBAC, clusterInfo, kubeadmConfig, kubeletConfig, ...addOns];

/**
 * Deletes in the hosted cluster what was rendered once and is not any more, such as an add-on that was disabled.
 * Returns when to try again, if that is necessary.
 */
export async function pruneWorkload(
  { cluster, hosted, now }: Pick<Scope, 'cluster' | 'hosted' | 'now'>,
  results: readonly PhaseResult[],
): Promise<Date | undefined> {
  // What has not been rendered in full says nothing about what is surplus.
  if (!results.filter(({ phase }) => rendering.includes(phase)).every(isApplied)) return undefined;
  const facts = mergeFacts(results.map((result) => result.facts));
  try {
    await hosted(facts).prune(renderWorkload(cluster, facts));
    return undefined;
  } catch (error) {
    if (error instanceof HostedClusterNotReady) return new Date(now.getTime() + error.afterMs);
    throw error;
  }
}
