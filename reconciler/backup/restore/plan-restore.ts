import { planStop, type Running, type StopDecision } from '../../run-state/plan-stop.ts';

/** The observed state of a restore, in the management cluster and in the status. */
export interface RestoreInput {
  /** ID of the request; undefined if there is none. */
  readonly request: string | undefined;
  /** The restore that the status records, with the requests whose restores began before it. */
  readonly record:
    | { readonly request: string; readonly isComplete: boolean; readonly earlier: readonly string[] }
    | undefined;
  /** ID of the run for the request; valid once the run has begun. */
  readonly run: string;
  /** Whether this process has chosen and checked the backup. */
  readonly isPrepared: boolean;
  /** All clients of the API, and the API servers themselves. */
  readonly servers: Running['servers'] & { readonly isAvailable: boolean };
  readonly etcd: Running['etcd'];
  /** One for each member of the spec. */
  readonly members: readonly MemberRestore[];
  /** Restore pods of members that are not in the spec. */
  readonly surplusPods: readonly string[];
}

export interface MemberRestore {
  readonly ordinal: number;
  /** The volume claim; undefined if it does not exist. */
  readonly claim: { readonly isGoing: boolean; readonly restored: readonly string[] } | undefined;
  readonly pod: RestorePod | undefined;
}

export interface RestorePod {
  readonly run: string;
  readonly isGoing: boolean;
  readonly state: 'starting' | 'receiving' | 'working' | 'succeeded' | 'failed';
}

/** What to do for one member. */
export type MemberAct = { readonly ordinal: number; readonly act: 'create' | 'discard' | 'send' | 'wait' };

/** The next step. The observed state shows each step, so that the next process continues after a process was killed. */
export type RestoreDecision =
  /** There is no request, or it has completed. */
  | { readonly kind: 'nothing' }
  /**
   * Data was taken out of use for a request that was withdrawn, or replaced by an earlier one. Only a request that has
   * never begun can continue.
   */
  | { readonly kind: 'withdrawn' }
  /** Choose the backup and check it, while the control plane continues to run. */
  | { readonly kind: 'prepare' }
  /** Record the backup in the status, before anything is changed. */
  | { readonly kind: 'begin' }
  | Extract<StopDecision, { readonly kind: 'stopServers' | 'stopMembers' }>
  /** Read the facts of the snapshot again before sending it. */
  | { readonly kind: 'prepareAgain' }
  | { readonly kind: 'restore'; readonly members: readonly MemberAct[]; readonly surplusPods: readonly string[] }
  /** Mark the claims as restored. From then on the data is complete. */
  | { readonly kind: 'mark' }
  | { readonly kind: 'cleanUp' }
  /** The data is restored. etcd and the API servers may start. */
  | { readonly kind: 'start' }
  | { readonly kind: 'complete' };

/** The next step of a restore. */
export function planRestore(observed: RestoreInput): RestoreDecision {
  const { request, record, members } = observed;
  const begun = record && !record.isComplete ? record.request : undefined;
  if (request === undefined) return begun === undefined ? { kind: 'nothing' } : { kind: 'withdrawn' };
  if (begun !== request && hasBegunBefore(observed, request))
    return { kind: begun === undefined ? 'nothing' : 'withdrawn' };
  if (begun !== request) return { kind: observed.isPrepared ? 'begin' : 'prepare' };
  return isRestored(members, request) ? start(observed) : replace(observed);
}

/**
 * A request that comes back after another one never begins again: a user who applies an old manifest does not mean to lose
 * what was written since. Volumes record it too, because a status may be lost.
 */
function hasBegunBefore({ record, members }: RestoreInput, request: string): boolean {
  const known = record ? [record.request, ...record.earlier] : [];
  return known.includes(request) || members.some(({ claim }) => claim?.restored.includes(request));
}

/** Whether all volumes hold the data of a request. */
export function isRestored(members: readonly MemberRestore[], request: string): boolean {
  const claims = members.flatMap(({ claim }) => (claim ? [claim] : []));
  return claims.length > 0 && claims.every(({ restored }) => restored.includes(request));
}

function start({ members, surplusPods, servers }: RestoreInput): RestoreDecision {
  if (members.some(({ pod }) => pod) || surplusPods.length > 0) return { kind: 'cleanUp' };
  return { kind: servers.isAvailable ? 'complete' : 'start' };
}

function replace(observed: RestoreInput): RestoreDecision {
  const { members, surplusPods, run } = observed;
  // What is running is about to be replaced.
  const step = planStop({ ...observed, level: 'AllStopped', awaitsBackup: false });
  if (step.kind === 'stopServers' || step.kind === 'stopMembers') return step;
  const succeeded = (pod: RestorePod | undefined) => pod?.state === 'succeeded' && pod.run === run && !pod.isGoing;
  if (members.every(({ pod, claim }) => claim && !claim.isGoing && succeeded(pod))) return { kind: 'mark' };
  if (!observed.isPrepared) return { kind: 'prepareAgain' };
  return { kind: 'restore', members: members.map((member) => memberAct(member, run)), surplusPods };
}

function memberAct({ ordinal, claim, pod }: MemberRestore, run: string): MemberAct {
  if (!pod) return { ordinal, act: claim?.isGoing ? 'wait' : 'create' };
  if (pod.isGoing) return { ordinal, act: 'wait' };
  if (pod.run !== run || pod.state === 'failed' || !claim || claim.isGoing) return { ordinal, act: 'discard' };
  return { ordinal, act: pod.state === 'receiving' ? 'send' : 'wait' };
}
