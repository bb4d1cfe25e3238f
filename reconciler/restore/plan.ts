/** What there is of a restore, in the management cluster and in the status. */
export interface RestoreObservation {
  /** Id of what is asked for; undefined when nothing is. */
  readonly request: string | undefined;
  /** The restore that the status knows of. */
  readonly record: { readonly request: string; readonly isComplete: boolean } | undefined;
  /** Id of the run that works for the request; meaningful once it has begun. */
  readonly run: string;
  /** Whether the backup was chosen and found good by this process. */
  readonly isPrepared: boolean;
  /** Everything that uses the API, and the API servers themselves. */
  readonly servers: {
    /** Workloads that are asked to run pods. */
    readonly wanted: readonly string[];
    /** Pods that there are. */
    readonly pods: readonly string[];
    readonly isAvailable: boolean;
  };
  readonly etcd: { readonly isWanted: boolean; readonly pods: readonly string[] };
  /** One for each member of the spec. */
  readonly members: readonly MemberRestore[];
  /** Restore pods of members that the spec does not have. */
  readonly surplusPods: readonly string[];
}

export interface MemberRestore {
  readonly ordinal: number;
  /** The volume claim; undefined when there is none. */
  readonly claim: { readonly isGoing: boolean; readonly restored: readonly string[] } | undefined;
  readonly pod: RestorePod | undefined;
}

export interface RestorePod {
  readonly run: string;
  readonly isGoing: boolean;
  readonly state: 'Starting' | 'Receiving' | 'Working' | 'Succeeded' | 'Failed';
}

/** What to do for one member. */
export type MemberAct = { readonly ordinal: number; readonly act: 'Create' | 'Discard' | 'Send' | 'Wait' };

/** What comes next. Each step shows in what is observed, so that a process that was killed goes on where it was. */
export type RestoreDecision =
  /** Nothing is asked for, or it ran. */
  | { readonly kind: 'Nothing' }
  /** Data was taken out of use for a request that is withdrawn: there is no way back but another one. */
  | { readonly kind: 'Withdrawn' }
  /** Choose the backup and check it, while everything goes on. */
  | { readonly kind: 'Prepare' }
  /** Note in the status which backup it is, before anything is touched. */
  | { readonly kind: 'Begin' }
  | { readonly kind: 'StopServers'; readonly workloads: readonly string[]; readonly pods: readonly string[] }
  | { readonly kind: 'StopMembers'; readonly isWanted: boolean; readonly pods: readonly string[] }
  /** Learn again what the snapshot is that is to be sent. */
  | { readonly kind: 'PrepareAgain' }
  | { readonly kind: 'Restore'; readonly members: readonly MemberAct[]; readonly surplusPods: readonly string[] }
  /** Note on the claims that they hold restored data: from then on it is over for the data. */
  | { readonly kind: 'Mark' }
  | { readonly kind: 'CleanUp' }
  /** The data is there, and etcd and the API servers may start. */
  | { readonly kind: 'Start' }
  | { readonly kind: 'Complete' };

/** The next step of a restore. */
export function planRestore(observed: RestoreObservation): RestoreDecision {
  const { request, record, members } = observed;
  const begun = record && !record.isComplete ? record.request : undefined;
  if (request === undefined) return begun === undefined ? { kind: 'Nothing' } : { kind: 'Withdrawn' };
  if (begun !== request && (record?.request === request || hasRun(members, request))) return { kind: 'Nothing' };
  if (begun !== request) return { kind: observed.isPrepared ? 'Begin' : 'Prepare' };
  return isRestored(members, request) ? start(observed) : replace(observed);
}

/** A status may be lost; the volumes tell all the same. */
function hasRun(members: readonly MemberRestore[], request: string): boolean {
  return members.some(({ claim }) => claim?.restored.includes(request));
}

function isRestored(members: readonly MemberRestore[], request: string): boolean {
  const claims = members.flatMap(({ claim }) => (claim ? [claim] : []));
  return claims.length > 0 && claims.every(({ restored }) => restored.includes(request));
}

function start({ members, surplusPods, servers }: RestoreObservation): RestoreDecision {
  if (members.some(({ pod }) => pod) || surplusPods.length > 0) return { kind: 'CleanUp' };
  return { kind: servers.isAvailable ? 'Complete' : 'Start' };
}

function replace(observed: RestoreObservation): RestoreDecision {
  const { servers, etcd, members, surplusPods, run } = observed;
  if (servers.wanted.length > 0 || servers.pods.length > 0) {
    return { kind: 'StopServers', workloads: servers.wanted, pods: servers.pods };
  }
  if (etcd.isWanted || etcd.pods.length > 0) {
    return { kind: 'StopMembers', isWanted: etcd.isWanted, pods: etcd.pods };
  }
  const succeeded = (pod: RestorePod | undefined) => pod?.state === 'Succeeded' && pod.run === run && !pod.isGoing;
  if (members.every(({ pod, claim }) => claim && !claim.isGoing && succeeded(pod))) return { kind: 'Mark' };
  if (!observed.isPrepared) return { kind: 'PrepareAgain' };
  return { kind: 'Restore', members: members.map((member) => memberAct(member, run)), surplusPods };
}

function memberAct({ ordinal, claim, pod }: MemberRestore, run: string): MemberAct {
  if (!pod) return { ordinal, act: claim?.isGoing ? 'Wait' : 'Create' };
  if (pod.isGoing) return { ordinal, act: 'Wait' };
  if (pod.run !== run || pod.state === 'Failed' || !claim || claim.isGoing) return { ordinal, act: 'Discard' };
  return { ordinal, act: pod.state === 'Receiving' ? 'Send' : 'Wait' };
}
