/**
 * One thing to do to an etcd cluster. After its execution each step is finished, or visible in the next observation, so
 * that no state has to be remembered in between.
 */
export type EtcdStep =
  /**
   * Write this ID on the member's volume claim, to distinguish it from another claim in its place; `0` for no member.
   */
  | { readonly kind: 'MarkVolume'; readonly member: string; readonly id: string }
  /**
   * Write the ID of a founding member that has not answered yet on its claim, so that its volume does not count as new.
   */
  | { readonly kind: 'ReserveVolume'; readonly member: string; readonly id: string }
  | { readonly kind: 'AddLearner'; readonly member: string; readonly peerUrl: string }
  | { readonly kind: 'Promote'; readonly member: string; readonly id: string }
  | { readonly kind: 'Remove'; readonly member: string; readonly id: string; readonly because: string }
  /** Delete the volume claim and the pod of a former member, so that the next one starts empty. */
  | { readonly kind: 'DiscardVolume'; readonly member: string }
  | { readonly kind: 'MoveLeader'; readonly from: string; readonly to: string; readonly targetId: string }
  /** Delete exactly this pod. The StatefulSet creates one from the current template. */
  | { readonly kind: 'ReplacePod'; readonly member: string; readonly podUid: string }
  /** Remove all versions of keys before this revision. */
  | { readonly kind: 'Compact'; readonly member: string; readonly revision: number }
  | { readonly kind: 'Defragment'; readonly member: string }
  | {
      readonly kind: 'Disarm';
      readonly member: string;
      readonly alarm: 'Nospace' | 'Corrupt';
      readonly memberId: string;
    };

/** Steps that disrupt something that may be needed: a member, its data, its pod, or its availability for a while. */
const disruptive: Readonly<Record<EtcdStep['kind'], boolean>> = {
  MarkVolume: false,
  ReserveVolume: false,
  AddLearner: false,
  Promote: false,
  Remove: true,
  DiscardVolume: true,
  MoveLeader: true,
  ReplacePod: true,
  Compact: false,
  Defragment: true,
  Disarm: false,
};

export function isDisruptive({ kind }: Pick<EtcdStep, 'kind'>): boolean {
  return disruptive[kind];
}

/** What to do next, what has to change first, or that the desired state is reached. */
export type Decision =
  | { readonly kind: 'Act'; readonly step: EtcdStep }
  | { readonly kind: 'Wait'; readonly message: string }
  | { readonly kind: 'Settled' };

export const settled: Decision = { kind: 'Settled' };

export function act(step: EtcdStep): Decision {
  return { kind: 'Act', step };
}

export function wait(message: string): Decision {
  return { kind: 'Wait', message };
}
