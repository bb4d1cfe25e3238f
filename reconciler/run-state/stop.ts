import { Deployment, StatefulSet } from '../../constructs/api/resources.ts';
import type { HostedCluster } from '../../constructs/cluster/cluster.ts';
import type { Facts } from '../../constructs/cluster/facts.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import { removeProbes } from '../etcd/placement-probe.ts';
import { needsToStop } from '../clusters/pods/needs-to-stop.ts';
import type { Wait } from '../engine/outcome.ts';
import type { ControlPlaneContext, Reader, Writer } from '../clusters/management/view.ts';
import { waitForTermination } from '../clusters/pods/termination.ts';
import type { StopDecision } from './plan-stop.ts';
import type { StopReason } from './run-state.ts';

/** What a stop works with. */
interface StopContext extends Pick<ControlPlaneContext, 'reader' | 'writer' | 'now'> {
  readonly cluster: HostedCluster;
  /** Manages the members of etcd, which it must not start again. */
  readonly etcdLoop: { stop(): Promise<void> };
}

/** Executes a step, and waits for the end of its pods. */
export async function stop(
  scope: StopContext,
  step: Extract<StopDecision, { readonly kind: 'stopServers' | 'stopMembers' }>,
): Promise<Wait> {
  if (step.kind === 'stopServers') {
    await holdServers(scope, step.workloads);
    return waitForTermination('StoppingAPIServers', step.pods, scope);
  }
  await holdMembers(scope);
  return waitForTermination('StoppingMembers', step.pods, scope);
}

/**
 * Why the control plane could not start again, as a sentence; undefined if nothing speaks against it. It is tried before anything
 * has stopped, and not afterwards.
 */
export async function refusalToStop(
  scope: StopContext & { readonly facts: Facts; readonly writer: Pick<Writer, 'dryRun'> },
  because: StopReason,
  step: StopDecision,
): Promise<string | undefined> {
  const begins = step.kind === 'stopServers' && step.workloads.includes(namesOf(scope.cluster.name).apiServer);
  return begins ? scope.writer.dryRun(needsToStop(because, scope)) : undefined;
}

/**
 * The purpose that holds workloads at zero replicas. The phases of the workloads set the replicas again when they run. Its name is
 * older than the other reasons to stop.
 */
const holdPurpose = 'restore';

const held = { spec: { replicas: 0 } };

/** Scales these Deployments to zero. */
async function holdServers(
  { reader, writer }: { readonly reader: Reader; readonly writer: Pick<Writer, 'setFields'> },
  workloads: readonly string[],
): Promise<void> {
  for (const name of workloads) {
    const workload = reader.get(Deployment, name);
    if (workload) await writer.setFields(Deployment, workload, held, holdPurpose);
  }
}

/** Scales etcd to zero, after stopping its loop. What probes a template of its members holds their volumes. */
async function holdMembers({ cluster, reader, writer, etcdLoop }: StopContext): Promise<void> {
  await etcdLoop.stop();
  await removeProbes({ cluster, reader, writer });
  const set = reader.get(StatefulSet, namesOf(cluster.name).etcd);
  if (set) await writer.setFields(StatefulSet, set, held, holdPurpose);
}
