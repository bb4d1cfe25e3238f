import { type BackOff, backOff } from '../../kube/back-off.ts';

/** How much of the work for a control plane the operator's own process leaves to a process apart. */
export type Apart =
  /** What reaches its servers and stores. */
  | 'hosted'
  /** All of it, because the rest has ended the process, too. */
  | 'everything';

/** A control plane that a process had in hand when it ended. */
export interface InHand {
  /** `namespace/name` */
  readonly key: string;
  /** Whether only a background task was, which may take hours and is in hand at most ends. */
  readonly isTask: boolean;
}

/** What is known of a control plane that was in hand when a process ended. Times are milliseconds since the epoch. */
export interface Conduct {
  /** The ends of the last hour with it in hand, since the last quarantine. */
  readonly ends: readonly number[];
  /** Undefined while it is in no quarantine. */
  readonly apart?: Apart | undefined;
  /** Quarantines, and second processes that have failed: how long the next one waits. */
  readonly faults: number;
  /** When the next second process begins, in quarantine. */
  readonly retryAt?: number | undefined;
  /** When any of it has changed last. */
  readonly changedAt: number;
}

/** By the keys of control planes. */
export type Conducts = Readonly<Record<string, Conduct>>;

/** Kept at an end: those in quarantine, and those that have changed last. */
const mostKnown = 2_048;

const hourMs = 60 * 60_000;
/** Ends of one control plane that are further apart are chance: a node that is short of memory, or an eviction. */
const endCountsMs = hourMs;
/** A control plane that has behaved for so long is as any other. */
const faultCountsMs = 24 * hourMs;
/** How long a second process waits after a quarantine, and after each further fault. */
export const retryDelays: BackOff = { firstMs: 60_000, longestMs: 6 * hourMs };

/** What is known after a process has ended with these in hand. */
export function afterEnd(conducts: Conducts, inHand: readonly InHand[], now: number, delays = retryDelays): Conducts {
  const counted = { ...stillKnown(conducts, now) };
  for (const { key } of inHand) {
    const before = counted[key] ?? { ends: [], faults: 0 };
    counted[key] = { ...before, ends: [...before.ends, now], changedAt: now };
  }
  for (const key of blamed(counted, inHand)) {
    const { apart, faults = 0 } = counted[key] ?? {};
    counted[key] = {
      ends: [],
      apart: apart === undefined ? 'hosted' : 'everything',
      faults: faults + 1,
      retryAt: now + backOff(delays, faults + 1),
      changedAt: now,
    };
  }
  return counted;
}

/**
 * Whose second end it is. One that was in quarantine before is on its second end at the first. A background task is blamed only where
 * nothing else can be.
 */
function blamed(conducts: Conducts, inHand: readonly InHand[]): string[] {
  const suspects = inHand.filter(({ key }) => {
    const { ends = [], faults = 0 } = conducts[key] ?? {};
    return ends.length + Math.min(1, faults) >= 2;
  });
  const acting = suspects.filter(({ isTask }) => !isTask);
  return (acting.length > 0 ? acting : suspects).map(({ key }) => key);
}

/** How the second process of a control plane in quarantine has ended. */
export interface SecondProcessResult {
  readonly key: string;
  readonly hasBehaved: boolean;
}

/** What is known after a second process. A control plane that behaves in it leaves quarantine. */
export function afterSecondProcess(
  conducts: Conducts,
  { key, hasBehaved }: SecondProcessResult,
  now: number,
  delays = retryDelays,
): Conducts {
  const before = conducts[key];
  if (before?.apart === undefined) return conducts;
  const { apart: _, retryAt: __, ...free } = before;
  const faults = before.faults + 1;
  const next = hasBehaved ? free : { ...before, faults, retryAt: now + backOff(delays, faults) };
  return { ...conducts, [key]: { ...next, changedAt: now } };
}

/** What another instance says in the status: this one has not seen its ends, and has ended no quarantine of it. */
export function takenOver(conducts: Conducts, key: string, apart: Apart, now: number): Conducts {
  const known = conducts[key];
  if (known !== undefined && known.faults > 0) return conducts;
  return { ...conducts, [key]: { ends: [], apart, faults: 1, retryAt: now + backOff(retryDelays, 1), changedAt: now } };
}

/**
 * Whether it was in hand at an end that counts. Of the suspects one is reconciled at a time, so that the next end has one of them in
 * hand.
 */
export function isSuspect(conduct: Conduct | undefined, now: number): boolean {
  return conduct !== undefined && conduct.apart === undefined && recent(conduct, now).length > 0;
}

function recent({ ends }: Conduct, now: number): readonly number[] {
  return ends.filter((at) => now - at < endCountsMs);
}

function stillKnown(conducts: Conducts, now: number): Conducts {
  const rank = ({ apart, changedAt }: Conduct) => (apart === undefined ? changedAt : Infinity);
  const known = Object.entries(conducts)
    .filter(([, { apart, changedAt }]) => apart !== undefined || now - changedAt < faultCountsMs)
    .sort(([, one], [, other]) => (rank(one) < rank(other) ? 1 : -1))
    .slice(0, mostKnown)
    .map(([key, conduct]) => [key, { ...conduct, ends: recent(conduct, now) }] as const);
  return Object.fromEntries(known);
}
