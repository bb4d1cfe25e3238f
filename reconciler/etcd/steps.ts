/**
 * One thing to do to an etcd cluster. After its execution each step is finished, or visible in the next observation, so
 * that no state has to be remembered in between.
 */
export type EtcdStep =
  /**
   * Write this ID on the member's volume claim, to distinguish it from another claim in its place; `0` for no member.
   */
  | { readonly kind: 'markVolume'; readonly member: string; readonly id: string }
  /**
   * Write the ID of a founding member that has not answered yet on its claim, so that its volume does not count as new.
   */
  | { readonly kind: 'reserveVolume'; readonly member: string; readonly id: string }
  | { readonly kind: 'addLearner'; readonly member: string; readonly peerUrl: string }
  | { readonly kind: 'promote'; readonly member: string; readonly id: string }
  | { readonly kind: 'remove'; readonly member: string; readonly id: string; readonly because: string }
  /** Delete the volume claim and the pod of a former member, so that the next one starts empty. */
  | { readonly kind: 'discardVolume'; readonly member: string }
  | { readonly kind: 'moveLeader'; readonly from: string; readonly to: string; readonly targetId: string }
  /** Delete exactly this pod. The StatefulSet creates one from the current template. */
  | { readonly kind: 'replacePod'; readonly member: string; readonly podUid: string }
  /** Remove all versions of keys before this revision. */
  | { readonly kind: 'compact'; readonly member: string; readonly revision: number }
  | { readonly kind: 'defragment'; readonly member: string }
  | {
      readonly kind: 'disarm';
      readonly member: string;
      readonly alarm: 'Nospace' | 'Corrupt';
      readonly memberId: string;
    };

/** Steps that disrupt something that may be needed: a member, its data, its pod, or its availability for a while. */
const disruptive: Readonly<Record<EtcdStep['kind'], boolean>> = {
  markVolume: false,
  reserveVolume: false,
  addLearner: false,
  promote: false,
  remove: true,
  discardVolume: true,
  moveLeader: true,
  replacePod: true,
  compact: false,
  defragment: true,
  disarm: false,
};

export function isDisruptive({ kind }: Pick<EtcdStep, 'kind'>): boolean {
  return disruptive[kind];
}

/** What to do next, what has to change first, or that the desired state is reached. */
export type Decision =
  | { readonly kind: 'act'; readonly step: EtcdStep }
  | { readonly kind: 'wait'; readonly message: string }
  | { readonly kind: 'settled' };

export const settled: Decision = { kind: 'settled' };

export function act(step: EtcdStep): Decision {
  return { kind: 'act', step };
}

export function wait(message: string): Decision {
  return { kind: 'wait', message };
}
