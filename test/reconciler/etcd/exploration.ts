import { nextEtcdStep } from '../../../reconciler/etcd/next-step.ts';
import type { Guard } from '../../../reconciler/etcd/quorum-guard.ts';
import type { EtcdStep } from '../../../reconciler/etcd/steps.ts';
import {
  carryOut,
  failures,
  hasAvailableQuorum,
  isAvailable,
  isLostForGood,
  keyOf,
  observe,
  operatorRestart,
  progress,
  quotaBytes,
  votersIn,
  type World,
} from './etcd-model.ts';

export interface Exploration {
  readonly worlds: number;
  /** What the operator did that it must never do, with the world it did it in. */
  readonly violations: readonly string[];
  /** Worlds from which the wanted members are not reached although nothing more fails. */
  readonly stuck: readonly string[];
}

interface Operator {
  readonly replicas: number;
  readonly guard: Guard;
}

/** Every world that can be reached from `start` by steps of the operator, failures and what goes on by itself. */
export function explore(start: World, operator: Operator): Exploration {
  const seen = new Set([keyOf(start)]);
  const violations: string[] = [];
  const stuck: string[] = [];
  const settling = new Map<string, boolean>();
  for (let edge = [start]; edge.length > 0;) {
    const next: World[] = [];
    for (const world of edge) {
      const step = stepIn(world, operator);
      const after = step && carryOut(world, step);
      if (step && after) violations.push(...violationsOf(world, step, after, operator));
      if (!settles(world, operator, settling)) stuck.push(`${keyOf(world)} next ${JSON.stringify(step)}`);
      const followers = [...(after ? [after] : []), ...progress(world), ...failures(world), ...operatorRestart(world)];
      for (const follower of followers) {
        const key = keyOf(follower);
        if (seen.has(key)) continue;
        seen.add(key);
        next.push(follower);
      }
    }
    edge = next;
  }
  return { worlds: seen.size, violations, stuck };
}

function stepIn(world: World, { replicas, guard }: Operator): EtcdStep | undefined {
  const goal = { replicas, revision: 'new', cause: 'Asked', quotaBytes } as const;
  const decision = nextEtcdStep(observe(world), goal, guard);
  return decision.kind === 'Act' ? decision.step : undefined;
}

function violationsOf(world: World, step: EtcdStep, after: World, { replicas }: Operator): string[] {
  const what = `${JSON.stringify(step)} in ${keyOf(world)}`;
  const underWay = ({ slots }: World) => slots.filter(({ isOurs }) => isOurs).length;
  const ordinal = 'member' in step ? Number(step.member.split('-').at(-1)) : -1;
  const slot = world.slots[ordinal];
  const found: string[] = [];
  // Of a single member no act can spare the quorum; the guard's own test says which are let through.
  if (votersIn(world).length > 1 && hasAvailableQuorum(world) && !hasAvailableQuorum(after))
    found.push(`quorum lost by ${what}`);
  if (underWay(after) > 1 && underWay(after) > underWay(world)) found.push(`two acts under way by ${what}`);
  if (step.kind === 'DiscardVolume' && slot?.data === 'own') found.push(`data of a member discarded by ${what}`);
  if (step.kind === 'Remove' && slot?.registration === 'voter' && !slot.hasStarted && ordinal < replicas)
    found.push(`a founder that is slow taken for lost by ${what}`);
  if (step.kind === 'Remove' && isLostForGood(world)) found.push(`members removed without a quorum by ${what}`);
  if (step.kind === 'MoveLeader' && !isAvailable(after.slots[after.leader] ?? world.slots[0]!)) {
    found.push(`leadership given to one that is not well by ${what}`);
  }
  return found;
}

/** Follows one fair course without failures until it ends, or joins one that is known. */
function settles(start: World, operator: Operator, known: Map<string, boolean>): boolean {
  const course: string[] = [];
  let world: World = { ...start, failuresLeft: 0 };
  let result: boolean | undefined;
  while (result === undefined) {
    const key = keyOf(world);
    result = known.get(key) ?? (course.includes(key) ? false : undefined);
    if (result !== undefined) break;
    course.push(key);
    const step = stepIn(world, operator);
    const next = step ? carryOut(world, step) : progress(world)[0];
    if (next) world = next;
    else result = isLostForGood(world) || isAsWanted(world, operator.replicas);
  }
  for (const key of course) known.set(key, result);
  return result;
}

function isAsWanted({ slots, isFull, leftAlarms }: World, replicas: number): boolean {
  const areMembers = slots.every((slot, ordinal) =>
    ordinal < replicas
      ? isAvailable(slot) && slot.mark === 'own' && !slot.isOutdated && !slot.isBloated
      : slot.registration === 'none' && slot.data === 'none',
  );
  return areMembers && !isFull && leftAlarms === 0;
}
