import {
  type EtcdObservation,
  type Member,
  type MemberClaim,
  type MemberStatus,
  quorumOf,
} from '../../../reconciler/etcd/members.ts';
import { podsFor } from '../../../reconciler/etcd/membership.ts';
import type { EtcdStep } from '../../../reconciler/etcd/steps.ts';

/** One ordinal of the modelled cluster. Ids are relative: a removed member leaves `old` data and marks. */
export interface Slot {
  readonly registration: 'none' | 'learner' | 'voter';
  readonly hasStarted: boolean;
  readonly data: 'none' | 'own' | 'old';
  readonly mark: 'none' | 'own' | 'old' | 'reserved';
  readonly isVolumeGone: boolean;
  /** Its volume claim is deleted, and goes when the pod ends. */
  readonly isVolumeGoing: boolean;
  readonly process: 'up' | 'down' | 'terminating';
  readonly isBehind: boolean;
  readonly isOutdated: boolean;
  readonly isBloated: boolean;
  readonly isDefragmenting: boolean;
  readonly isCorrupt: boolean;
  /** It serves its peers, but does not answer the operator. */
  readonly isUnseen: boolean;
  /** Its process runs, and never works with its template. */
  readonly isMisconfigured: boolean;
  /** A step of the operator took it away, and it is not back yet. */
  readonly isOurs: boolean;
}

/** A small model of an etcd cluster with its pods, volumes, and an operator that may restart. */
export interface ModelState {
  readonly slots: readonly Slot[];
  readonly leader: number;
  /** The ordinal whose defragmentation the operator remembers; none after a restart. */
  readonly remembered: number;
  readonly isFull: boolean;
  readonly isCompacted: boolean;
  /** Alarms that outlived their member. */
  readonly leftAlarms: number;
  readonly failuresLeft: number;
}

export const mebibyte = 1024 ** 2;
export const quotaBytes = 500 * mebibyte;
const committed = 100_000;
const idOf = (ordinal: number) => String(ordinal + 1);

/** A member that is up and has all data. */
export const member: Slot = {
  registration: 'voter',
  hasStarted: true,
  data: 'own',
  mark: 'own',
  isVolumeGone: false,
  isVolumeGoing: false,
  process: 'up',
  isBehind: false,
  isOutdated: false,
  isBloated: false,
  isDefragmenting: false,
  isCorrupt: false,
  isUnseen: false,
  isMisconfigured: false,
  isOurs: false,
};

/** A founding member that has not started yet. */
export const founder: Slot = { ...member, hasStarted: false, data: 'none', mark: 'none', process: 'down' };

/** A founding member whose process runs with a wrong template. */
export const misconfigured: Slot = { ...founder, process: 'up', isOutdated: true, isMisconfigured: true };

/** An ordinal without a member. */
export const vacancy: Slot = {
  ...member,
  registration: 'none',
  hasStarted: false,
  data: 'none',
  mark: 'none',
  process: 'down',
};

export function votersIn(state: ModelState): readonly Slot[] {
  return state.slots.filter(({ registration }) => registration === 'voter');
}

function answers({ registration, data, process, isDefragmenting }: Slot): boolean {
  return registration !== 'none' && data === 'own' && process !== 'down' && !isDefragmenting;
}

/** Whether a member could take part in a majority at once. */
export function isAvailable(slot: Slot): boolean {
  return slot.registration === 'voter' && answers(slot) && slot.process === 'up' && !slot.isBehind && !slot.isCorrupt;
}

function isAble(slot: Slot | undefined): boolean {
  return slot !== undefined && slot.registration === 'voter' && answers(slot);
}

export function hasAvailableQuorum(state: ModelState): boolean {
  return state.slots.filter(isAvailable).length >= quorumOf(votersIn(state).length);
}

/** Whether so much data is lost that etcd can never have a quorum again; only a restore helps. */
export function isLostForGood(state: ModelState): boolean {
  const kept = votersIn(state).filter(({ data, isCorrupt }) => data === 'own' && !isCorrupt);
  return kept.length < quorumOf(votersIn(state).length);
}

function decides(state: ModelState): boolean {
  return state.slots.filter(isAble).length >= quorumOf(votersIn(state).length);
}

export function observe(state: ModelState): EtcdObservation {
  const isLed = decides(state) && isAble(state.slots[state.leader]);
  const members = state.slots.map((slot, ordinal) => observeMember(slot, ordinal, isLed ? state.leader : -1, state));
  const pods = podsFor({ members });
  const present = members.map((one) => (one.ordinal < pods ? one : { ...one, pod: undefined }));
  const isAnswered = members.some(({ status }) => status);
  return {
    // Members answer who the members are.
    members: isAnswered ? present : present.map((one) => ({ ...one, registration: undefined })),
    unknownMembers: [],
    membership: !isAnswered ? 'unknown' : isLed ? 'confirmed' : 'unconfirmed',
    isNew: state.slots.every(({ hasStarted }) => !hasStarted),
    alarms: [
      ...(state.isFull ? [{ alarm: 'Nospace' as const, memberId: '1' }] : []),
      ...state.slots.flatMap(({ isCorrupt }, ordinal) =>
        isCorrupt ? [{ alarm: 'Corrupt' as const, memberId: idOf(ordinal) }] : [],
      ),
      ...Array.from({ length: state.leftAlarms }, () => ({ alarm: 'Corrupt' as const, memberId: '77' })),
    ],
    isCompacted: state.isCompacted,
    ...(state.remembered < 0 ? {} : { inProgress: { act: 'defragmentation', member: `etcd-${state.remembered}` } }),
  };
}

function observeMember(slot: Slot, ordinal: number, leader: number, state: ModelState): Member {
  const { registration, mark, isVolumeGone, isVolumeGoing, process, isOutdated, hasStarted } = slot;
  const name = `etcd-${ordinal}`;
  const peerUrl = `https://${name}:2380`;
  return {
    ordinal,
    name,
    peerUrl,
    registration:
      registration === 'none'
        ? undefined
        : {
            id: idOf(ordinal),
            // Founding members are registered by name before they start.
            name: hasStarted || registration === 'voter' ? name : '',
            isLearner: registration === 'learner',
            peerUrls: [peerUrl],
          },
    status: answers(slot) && !slot.isUnseen ? statusOf(slot, ordinal, leader, state) : undefined,
    pod: {
      uid: name,
      revision: isOutdated ? 'old' : 'new',
      isTerminating: process === 'terminating',
      isRunning: process !== 'down' && registration !== 'none' && (slot.data === 'own' || slot.isMisconfigured),
      isReady: isAvailable(slot) && decides(state),
      // On an empty volume it crashes repeatedly.
      restarts: hasStarted && slot.data === 'none' ? 9 : 0,
    },
    claim: { ...markIn(mark, ordinal), isLost: isVolumeGone, isTerminating: isVolumeGoing },
  };
}

function markIn(mark: Slot['mark'], ordinal: number): Pick<MemberClaim, 'memberId' | 'isReserved'> {
  if (mark === 'none') return { memberId: undefined };
  if (mark === 'old') return { memberId: '99' };
  return { memberId: idOf(ordinal), ...(mark === 'reserved' ? { isReserved: true } : {}) };
}

function statusOf({ isBehind, isBloated }: Slot, ordinal: number, leader: number, state: ModelState): MemberStatus {
  const isFreed = isBloated && (!state.isFull || state.isCompacted);
  const dbSizeBytes = (isBloated ? 500 : 100) * mebibyte;
  return {
    memberId: idOf(ordinal),
    clusterId: '4711',
    version: '3.6.16',
    leaderId: leader < 0 ? undefined : idOf(leader),
    raftTerm: 1,
    raftIndex: isBehind ? 1 : committed,
    raftAppliedIndex: isBehind ? 1 : committed,
    revision: 1,
    dbSizeBytes,
    dbSizeInUseBytes: isFreed ? 100 * mebibyte : dbSizeBytes,
    errors: [],
  };
}

/** The state directly after a step of the operator. */
export function execute(state: ModelState, step: EtcdStep): ModelState {
  if (step.kind === 'compact') return { ...state, isCompacted: true };
  if (step.kind === 'disarm') {
    return step.alarm === 'Nospace' ? { ...state, isFull: false } : { ...state, leftAlarms: state.leftAlarms - 1 };
  }
  if (step.kind === 'moveLeader') return { ...state, leader: ordinalOf(step.to) };
  const ordinal = ordinalOf(step.member);
  const remembered = step.kind === 'defragment' ? ordinal : state.remembered;
  const leftAlarms = state.leftAlarms + (step.kind === 'remove' && state.slots[ordinal]?.isCorrupt ? 1 : 0);
  return { ...change(state, ordinal, (slot) => afterStep(slot, step)), remembered, leftAlarms };
}

function afterStep(slot: Slot, step: EtcdStep): Slot {
  const old = (value: Slot['mark']) => (value === 'none' ? 'none' : 'old');
  switch (step.kind) {
    case 'markVolume':
      return { ...slot, mark: step.id === '0' ? 'old' : 'own' };
    case 'reserveVolume':
      return { ...slot, mark: 'reserved' };
    case 'addLearner':
      return { ...slot, registration: 'learner', hasStarted: false, isOurs: true };
    case 'promote':
      return { ...slot, registration: 'voter', isOurs: false };
    case 'remove':
      return {
        ...vacancy,
        data: old(slot.data),
        mark: old(slot.mark),
        isVolumeGone: slot.isVolumeGone,
        isVolumeGoing: slot.isVolumeGoing,
        isOutdated: slot.isOutdated,
      };
    case 'discardVolume':
      return {
        ...slot,
        data: 'none',
        mark: 'none',
        isVolumeGone: false,
        isVolumeGoing: false,
        process: 'down',
        isOutdated: false,
      };
    case 'replacePod':
      return slot.process === 'down'
        ? ended({ ...slot, isOutdated: false })
        : { ...slot, process: 'terminating', isOurs: !slot.isMisconfigured };
    case 'defragment':
      return { ...slot, isDefragmenting: true, isOurs: true };
    case 'compact':
    case 'disarm':
    case 'moveLeader':
      return slot;
  }
}

/** A slot whose pod has ended, and with it a volume whose claim was deleted. */
export function ended(slot: Slot): Slot {
  return slot.isVolumeGoing ? { ...slot, data: 'none', mark: 'none', isVolumeGoing: false } : slot;
}

/** The failures that are possible now, at the cost of one failure each. */
export function failures(state: ModelState): ModelState[] {
  if (state.failuresLeft === 0) return [];
  const less = { ...state, failuresLeft: state.failuresLeft - 1 };
  const at = (ordinal: number, hurt: Partial<Slot>) => change(less, ordinal, (slot) => ({ ...slot, ...hurt }));
  const isCut = state.slots.every(({ process, isUnseen }) => process !== 'up' || isUnseen);
  // The network between the operator and all members.
  const cut = { ...less, slots: less.slots.map((slot) => ({ ...slot, isUnseen: slot.process === 'up' })) };
  const single = state.slots.flatMap((slot, ordinal) => {
    if (slot.registration === 'none' || slot.data !== 'own' || slot.process === 'terminating') return [];
    const gone = { data: 'none', process: 'down', isDefragmenting: false, isUnseen: false } as const;
    return [
      ...(slot.process === 'up'
        ? [at(ordinal, { process: 'down', isDefragmenting: false, isBehind: true, isUnseen: false })]
        : []),
      at(ordinal, { ...gone, mark: 'none' }),
      at(ordinal, { ...gone, isVolumeGone: true }),
      ...(slot.isBehind || ordinal === state.leader ? [] : [at(ordinal, { isBehind: true })]),
      ...(slot.process === 'up' && !slot.isUnseen ? [at(ordinal, { isUnseen: true })] : []),
      ...(slot.registration === 'voter' && !slot.isCorrupt ? [at(ordinal, { isCorrupt: true })] : []),
    ];
  });
  return isCut ? single : [...single, cut];
}

/** The operator is killed and restarted: it remembers nothing. */
export function operatorRestart(state: ModelState): ModelState[] {
  return state.remembered < 0 ? [] : [{ ...state, remembered: -1 }];
}

/** What happens without the operator: kubelet, StatefulSet controller, elections, catching up, the end of slow operations. */
export function progress(state: ModelState): ModelState[] {
  const next = state.slots.flatMap((slot, ordinal) => {
    const after = progressOf(slot, decides(state) && isAble(state.slots[state.leader]));
    if (!after) return [];
    const isDone = slot.isDefragmenting && !after.isDefragmenting && state.remembered === ordinal;
    const moved = change(state, ordinal, () => after);
    return [isDone ? { ...moved, remembered: -1 } : moved];
  });
  // A defragmentation request also ends when the member ends.
  const isForgotten = state.remembered >= 0 && state.slots[state.remembered]?.isDefragmenting === false;
  return [...next, ...elections(state), ...(isForgotten ? [{ ...state, remembered: -1 }] : [])];
}

function progressOf(slot: Slot, isLed: boolean): Slot | undefined {
  if (slot.process === 'terminating')
    return ended({
      ...slot,
      process: 'down',
      isOutdated: false,
      isBehind: true,
      isUnseen: false,
      isMisconfigured: false,
    });
  if (slot.isDefragmenting) return { ...slot, isDefragmenting: false, isBloated: false, isOurs: slot.isBehind };
  const isJoining = slot.registration === 'learner' && !slot.hasStarted && slot.data === 'none' && !slot.isVolumeGone;
  const isFounding = slot.registration === 'voter' && !slot.hasStarted && slot.mark !== 'old' && !slot.isMisconfigured;
  if ((isJoining && slot.mark === 'none') || isFounding) {
    return { ...slot, data: 'own', hasStarted: true, process: 'up', isBehind: true };
  }
  if (slot.process === 'down' && slot.data === 'own' && slot.registration !== 'none') return { ...slot, process: 'up' };
  if (slot.isBehind && isLed && answers(slot)) {
    return { ...slot, isBehind: false, isOurs: slot.registration === 'learner' };
  }
  return slot.isUnseen ? { ...slot, isUnseen: false } : undefined;
}

function elections(state: ModelState): ModelState[] {
  if (!decides(state) || state.leader >= 0) return [];
  const able = state.slots.flatMap((slot, ordinal) => (isAble(slot) ? [{ slot, ordinal }] : []));
  const current = able.filter(({ slot }) => !slot.isBehind);
  return (current.length > 0 ? current : able).map(({ ordinal }) => ({
    ...change(state, ordinal, (slot) => ({ ...slot, isBehind: false, isOurs: false })),
    leader: ordinal,
  }));
}

/** A leader that is taken away loses leadership, also when it is back. */
function change(state: ModelState, ordinal: number, edit: (slot: Slot) => Slot): ModelState {
  const slots = state.slots.map((slot, index) => (index === ordinal ? edit(slot) : slot));
  return { ...state, slots, leader: isAble(slots[state.leader]) ? state.leader : -1 };
}

function ordinalOf(name: string): number {
  return Number(name.split('-').at(-1));
}

/** Equal states have the same text. */
export function keyOf(state: ModelState): string {
  const slots = state.slots.map((slot) => Object.values(slot).map(code).join(''));
  const { leader, remembered, isFull, isCompacted, leftAlarms, failuresLeft } = state;
  return `${slots.join(' ')} ${leader} ${remembered} ${code(isFull)}${code(isCompacted)} ${leftAlarms} ${failuresLeft}`;
}

function code(value: string | boolean): string {
  if (typeof value === 'boolean') return value ? '1' : '0';
  return `${value.charAt(0)}${value.charAt(1)}`;
}
