import { isDeepStrictEqual } from 'node:util';
import type { HostedCluster } from '../../constructs/cluster/cluster.ts';
import { messageOf } from '../kube/error-message.ts';
import type { Reader, Writer } from '../management/view.ts';
import { execute, isEtcdCall } from './execute.ts';
import { executeOnObjects } from './execute-objects.ts';
import { isRefusedForNow } from './client.ts';
import { knownMembers, type MemberObjects, readMemberObjects, watchedMemberObjects } from './member-objects.ts';
import type { EtcdObservation } from './members.ts';
import { type EtcdDesiredState, planEtcdStep } from './plan-step.ts';
import { type Clients, observeEtcd } from './observe.ts';
import { type EtcdReport, fillOf, withoutVacancies } from './report.ts';
import { strandedClaims } from './stranded-volumes.ts';
import { type Decision, type EtcdStep, isDisruptive } from './steps.ts';

/** What is to become of an etcd cluster, and by what means. */
export interface EtcdTask {
  readonly cluster: Pick<HostedCluster, 'name' | 'namespace'>;
  readonly goal: EtcdDesiredState;
  readonly reader: Reader;
  readonly writer: Writer;
}

/** A way to the members of an etcd cluster. */
export interface EtcdLoopAccess {
  readonly clients: Clients;
  close(): void;
}

/** Opens one from what the watches know. @throws when a certificate is missing */
export type OpenEtcdLoopAccess = (cluster: EtcdTask['cluster'], reader: Reader) => EtcdLoopAccess;

/** What a round is told, and whom it tells. */
export interface ReconcileEtcdOptions {
  readonly open: OpenEtcdLoopAccess;
  /** Hears of what was seen before anything is done about it. */
  readonly tell: (report: EtcdReport) => void;
  readonly signal: AbortSignal;
  /** What was begun in a round before and has not ended. */
  readonly inProgress: EtcdObservation['inProgress'];
  /** Begins to defragment a member, which takes minutes; nobody waits for it. */
  readonly defragment: (member: string) => void;
}

interface Look {
  readonly objects: MemberObjects;
  readonly observation: EtcdObservation;
  readonly decision: Decision;
}

/**
 * One look at an etcd cluster and at most one step. What takes a member away is decided twice: from what the watches
 * know, and then from pods and claims as they are at that moment; it is done only when both agree.
 * @returns the step that was carried out or begun, if any
 * @throws when a certificate to reach etcd with is missing
 */
export async function reconcileEtcd(
  task: EtcdTask,
  { open, tell, signal, inProgress, defragment }: ReconcileEtcdOptions,
): Promise<EtcdStep | undefined> {
  const { cluster, goal, reader, writer } = task;
  const access = open(cluster, reader);
  try {
    const first = await look(task, watchedMemberObjects(cluster, reader), access, inProgress);
    const { observation, decision } = first;
    const seen: EtcdReport = { observation, decision, fill: fillOf(observation, goal.quotaBytes) };
    tell(seen);
    if (decision.kind !== 'Act' || signal.aborted) return undefined;
    const { step } = decision;
    const latest = isDisruptive(step)
      ? await look(task, await readMemberObjects(cluster, writer), access, inProgress)
      : first;
    if (!isDeepStrictEqual(latest.decision, decision) || signal.aborted) return undefined;
    try {
      if (step.kind === 'Defragment') defragment(step.member);
      else await perform(step, latest, task, access);
      return step;
    } catch (error) {
      if (!isRefusedForNow(error)) tell({ ...seen, problem: messageOf(error) });
      return undefined;
    }
  } finally {
    access.close();
  }
}

async function look(
  { cluster, goal, writer }: EtcdTask,
  objects: MemberObjects,
  { clients }: EtcdLoopAccess,
  inProgress: EtcdObservation['inProgress'],
): Promise<Look> {
  const seen = await observeEtcd(
    knownMembers(cluster, objects, await strandedClaims(objects, writer)),
    clients,
    inProgress,
  );
  const observation = withoutVacancies(seen, goal.replicas);
  return { objects, observation, decision: planEtcdStep(observation, goal) };
}

function perform(
  step: EtcdStep,
  { objects, observation }: Look,
  task: EtcdTask,
  access: EtcdLoopAccess,
): Promise<void> {
  if (isEtcdCall(step)) return execute(step, observation, access.clients);
  return executeOnObjects(step, { cluster: task.cluster, objects, writer: task.writer });
}
