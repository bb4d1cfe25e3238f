/**
 * One thing to do to an etcd cluster. Each is finished, or visible in the next observation, when it was carried out, so
 * that nothing has to be remembered between two of them.
 */
export type EtcdStep =
  /** Write this id on the member's volume claim, so that another claim in its place is told from it; `0` for nobody's. */
  | { readonly kind: 'MarkVolume'; readonly member: string; readonly id: string }
  /** Write the id of a founding member that has not answered yet on its claim, lest its volume be taken for a new one. */
  | { readonly kind: 'ReserveVolume'; readonly member: string; readonly id: string }
  | { readonly kind: 'AddLearner'; readonly member: string; readonly peerUrl: string }
  | { readonly kind: 'Promote'; readonly member: string; readonly id: string }
  | { readonly kind: 'Remove'; readonly member: string; readonly id: string; readonly because: string }
  /** Delete the volume claim and the pod of what is no member any more, so that the next one starts empty. */
  | { readonly kind: 'DiscardVolume'; readonly member: string }
  | { readonly kind: 'MoveLeader'; readonly from: string; readonly to: string; readonly targetId: string }
  /** Delete exactly this pod; the StatefulSet makes one from the present template. */
  | { readonly kind: 'ReplacePod'; readonly member: string; readonly podUid: string }
  /** Forget all versions of keys before this revision. */
  | { readonly kind: 'Compact'; readonly member: string; readonly revision: number }
  | { readonly kind: 'Defragment'; readonly member: string }
  | {
      readonly kind: 'Disarm';
      readonly member: string;
      readonly alarm: 'Nospace' | 'Corrupt';
      readonly memberId: string;
    };

/** Which steps take something away that may be needed: a member, its data, its pod, or its answers for a while. */
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

/** What is to be done next, what has to change first, or that all is as wanted. */
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
