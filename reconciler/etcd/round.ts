import { isDeepStrictEqual } from 'node:util';
import type { HostedCluster } from '../../constructs/control-plane/cluster.ts';
import { messageOf } from '../kube/error-message.ts';
import type { World, Writer } from '../scope.ts';
import { type EtcdAccess, openEtcd } from './access.ts';
import { carryOut, isEtcdCall } from './carry-out.ts';
import { carryOutOnObjects } from './carry-out-objects.ts';
import { isRefusedForNow } from './client.ts';
import { knownMembers, type MemberObjects, readMemberObjects, watchedMemberObjects } from './member-objects.ts';
import type { EtcdObservation } from './members.ts';
import { type EtcdGoal, nextEtcdStep } from './next-step.ts';
import { observeEtcd } from './observe.ts';
import { type EtcdReport, withoutVacancies } from './report.ts';
import type { Decision, EtcdStep } from './steps.ts';

/** What is to become of an etcd cluster, and by what means. */
export interface EtcdTask {
  readonly cluster: Pick<HostedCluster, 'name' | 'namespace'>;
  readonly goal: EtcdGoal;
  readonly world: World;
  readonly writer: Writer;
}

interface Look {
  readonly objects: MemberObjects;
  readonly observation: EtcdObservation;
  readonly decision: Decision;
}

/**
 * One look at an etcd cluster and at most one step. What takes a member away is decided twice: from what the watches
 * know, and then from pods and claims as they are at that moment; it is done only when both agree.
 * @param tell hears of what was seen before anything is done about it
 * @returns the step that was carried out, if any
 * @throws when a certificate to reach etcd with is missing
 */
export async function etcdRound(
  task: EtcdTask,
  tell: (report: EtcdReport) => void,
  signal: AbortSignal,
): Promise<EtcdStep | undefined> {
  const { cluster, world, writer } = task;
  const access = openEtcd(cluster, world);
  try {
    const first = await look(task, watchedMemberObjects(cluster, world), access);
    const { observation, decision } = first;
    tell({ observation, decision });
    if (decision.kind !== 'Act' || signal.aborted) return undefined;
    const { step } = decision;
    const latest = isDisruptive(step) ? await look(task, await readMemberObjects(cluster, writer), access) : first;
    if (!isDeepStrictEqual(latest.decision, decision) || signal.aborted) return undefined;
    try {
      await perform(step, latest, task, access);
      return step;
    } catch (error) {
      if (!isRefusedForNow(error)) tell({ observation, decision, problem: messageOf(error) });
      return undefined;
    }
  } finally {
    access.close();
  }
}

async function look({ cluster, goal }: EtcdTask, objects: MemberObjects, { clients }: EtcdAccess): Promise<Look> {
  const seen = await observeEtcd(knownMembers(cluster, objects), clients);
  const observation = withoutVacancies(seen, goal.replicas);
  return { objects, observation, decision: nextEtcdStep(observation, goal) };
}

function perform(step: EtcdStep, { objects, observation }: Look, task: EtcdTask, access: EtcdAccess): Promise<void> {
  if (isEtcdCall(step)) return carryOut(step, observation, access.clients);
  return carryOutOnObjects(step, { cluster: task.cluster, objects, writer: task.writer });
}

/** Whether a step takes something away that may be needed. */
function isDisruptive({ kind }: EtcdStep): boolean {
  return ['Remove', 'DiscardVolume', 'ReplacePod', 'MoveLeader', 'Defragment'].includes(kind);
}
