import { isDeepStrictEqual } from 'node:util';
import type { HostedCluster } from '../../constructs/cluster/cluster.ts';
import { messageOf } from '../kube/error-message.ts';
import type { Reader, Writer } from '../clusters/management/view.ts';
import { execute, executeOnObjects, isEtcdCall } from './execute-step.ts';
import type { EtcdAccess, OpenEtcd } from './access.ts';
import { isRefusedForNow } from './client.ts';
import { wasFormed } from './membership.ts';
import {
  knownMembers,
  type MemberObjects,
  readMemberObjects,
  strandedClaims,
  watchedMemberObjects,
} from './member-objects.ts';
import type { EtcdObservation } from './members.ts';
import { type EtcdDesiredState, planEtcdStep } from './plan-step.ts';
import { type LoopMemberClient, missingConnections, observeEtcd } from './observe-members.ts';
import { type EtcdReport, quotaUsage, withoutUnusedOrdinals } from './report.ts';
import { refusalOfReplacement } from './try-rollout.ts';
import { type Decision, type EtcdStep, isDisruptive } from './steps.ts';

/** The desired state of an etcd cluster, and the means to reach it. */
export interface EtcdTask {
  readonly cluster: Pick<HostedCluster, 'name' | 'namespace'>;
  readonly goal: EtcdDesiredState;
  /** Whether an etcd was ever formed, by any record. */
  readonly isFormed: boolean;
  readonly reader: Reader;
  readonly writer: Writer;
}

/** Inputs and callbacks of a round. */
interface ReconcileEtcdOptions {
  readonly open: OpenEtcd<LoopMemberClient>;
  /** Called with the observation before anything is done about it. */
  readonly report: (report: EtcdReport) => void;
  readonly signal: AbortSignal;
  /** An act of a previous round that has not ended. */
  readonly inProgress: EtcdObservation['inProgress'];
  /** What the round before has seen, if any. */
  readonly previous: EtcdObservation | undefined;
  /** Starts to defragment a member, which takes minutes. The round does not wait for it. */
  readonly defragment: (member: string) => void;
}

interface Round {
  readonly objects: MemberObjects;
  readonly observation: EtcdObservation;
  readonly decision: Decision;
}

/**
 * Observes an etcd cluster and executes at most one step. A disruptive step is decided twice: from what the watches
 * know, and from pods and claims read from the API server. It is executed only if both decisions agree.
 * @returns the step that was executed or started, if any
 * @throws when a certificate for access to etcd is missing
 */
export async function reconcileEtcd(
  task: EtcdTask,
  { open, report, signal, inProgress, previous, defragment }: ReconcileEtcdOptions,
): Promise<EtcdStep | undefined> {
  const { cluster, goal, reader, writer } = task;
  const access = open(cluster, reader);
  try {
    const first = await observe(task, watchedMemberObjects(cluster, reader), access, { inProgress, previous });
    const { observation, decision } = first;
    const seen: EtcdReport = { observation, decision, quotaUsage: quotaUsage(observation, goal.quotaBytes) };
    report(seen);
    if (decision.kind !== 'act' || signal.aborted) return undefined;
    const { step } = decision;
    const latest = isDisruptive(step)
      ? await observe(task, await readMemberObjects(cluster, writer), access, { inProgress, previous })
      : first;
    if (!isDeepStrictEqual(latest.decision, decision) || signal.aborted) return undefined;
    try {
      if (step.kind === 'defragment') defragment(step.member);
      else await perform(step, latest, task, access);
      return step;
    } catch (error) {
      if (!isRefusedForNow(error)) report({ ...seen, problem: messageOf(error) });
      return undefined;
    }
  } finally {
    access.close();
  }
}

async function observe(
  { cluster, goal, isFormed, writer }: EtcdTask,
  objects: MemberObjects,
  { clients }: EtcdAccess<LoopMemberClient>,
  context: Pick<ReconcileEtcdOptions, 'inProgress' | 'previous'>,
): Promise<Round> {
  const known = knownMembers(cluster, objects, await strandedClaims(objects, writer));
  // A member that is ready has a leader, whether the operator reaches it or not.
  const isNew = !isFormed && !wasFormed(known) && known.every(({ pod }) => !pod?.isReady);
  const seen = await observeEtcd(known, clients, { ...context, isNew });
  const observation = withoutUnusedOrdinals(seen, goal.replicas);
  const decision = planEtcdStep(observation, goal);
  if (decision.kind !== 'act' || !leadsToReplacement(decision.step)) return { objects, observation, decision };
  const connected = { ...observation, missingConnections: await missingConnections(observation, clients) };
  return { objects, observation: connected, decision: planEtcdStep(connected, goal) };
}

/** Leadership moves before the pod of the leader is replaced. */
function leadsToReplacement({ kind }: EtcdStep): boolean {
  return kind === 'replacePod' || kind === 'moveLeader';
}

async function perform(
  step: EtcdStep,
  { objects, observation }: Round,
  task: EtcdTask,
  access: EtcdAccess<LoopMemberClient>,
): Promise<void> {
  if (isEtcdCall(step)) return execute(step, observation, access.clients);
  // A quota may have changed since the template was applied.
  const refusal = step.kind === 'replacePod' ? await refusalOfReplacement(task) : undefined;
  if (refusal !== undefined) throw new Error(refusal);
  return executeOnObjects(step, { cluster: task.cluster, objects, writer: task.writer });
}
