import type { LeaseObject } from '../../imports/kubernetes.ts';
import { microTime } from './micro-time.ts';

/** Duration of leadership and interval of renewals, in milliseconds. */
export interface LeaseTimes {
  /** Time without renewal after which other candidates may take over. */
  readonly durationMs: number;
  /**
   * Time without successful renewal after which the holder gives up. It must be less than `durationMs`; otherwise two
   * could lead at the same time.
   */
  readonly renewDeadlineMs: number;
  /** Interval between two attempts, of the holder and of candidates. */
  readonly retryMs: number;
}

/**
 * The last observed change of the lease. Only the time that has passed here since then counts: the holder's clock may be
 * wrong by hours, and the time of this machine may be set meanwhile.
 */
export interface LeaseObservation {
  /** resourceVersion of the lease. */
  readonly version: string;
  /** In the time of Clock.elapsed. */
  readonly changedAt: number;
}

/** One moment by both clocks. */
export interface Moment {
  /** Milliseconds since the epoch, for the times that are written. */
  readonly now: number;
  /** In the time of Clock.elapsed. */
  readonly elapsed: number;
}

/** What to do with the lease. */
export type LeaseDecision =
  | { readonly type: 'create'; readonly spec: LeaseSpec }
  | { readonly type: 'take' | 'renew'; readonly spec: LeaseSpec }
  | { readonly type: 'wait'; readonly holder: string };

type LeaseSpec = NonNullable<LeaseObject['spec']>;

/** The observation after the lease was read. @param elapsed in the time of Clock.elapsed */
export function observeLease(
  lease: LeaseObject | undefined,
  before: LeaseObservation | undefined,
  elapsed: number,
): LeaseObservation {
  const version = lease?.metadata.resourceVersion ?? '';
  return before?.version === version ? before : { version, changedAt: elapsed };
}

/** Decides to create, renew or take over the lease, or to wait for its holder. */
export function decideLease(
  lease: LeaseObject | undefined,
  observation: LeaseObservation,
  identity: string,
  { now, elapsed }: Moment,
  times: LeaseTimes,
): LeaseDecision {
  const renewal = renewedLease(identity, now, times);
  const taking = { ...renewal, acquireTime: microTime(now) };
  if (!lease) return { type: 'create', spec: { ...taking, leaseTransitions: 0 } };
  const { holderIdentity: holder = '', leaseDurationSeconds, leaseTransitions = 0 } = lease.spec ?? {};
  if (holder === identity) return { type: 'renew', spec: renewal };
  // The holder may have another duration, and relies on its own.
  const durationMs = leaseDurationSeconds ? leaseDurationSeconds * 1000 : times.durationMs;
  if (holder !== '' && elapsed < observation.changedAt + durationMs) return { type: 'wait', holder };
  return { type: 'take', spec: { ...taking, leaseTransitions: leaseTransitions + 1 } };
}

/** What its holder writes to keep a lease. */
export function renewedLease(identity: string, now: number, { durationMs }: LeaseTimes): LeaseSpec {
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(durationMs / 1000),
    renewTime: microTime(now),
  };
}

/** The lease of a holder that stops: any candidate may take it immediately. */
export function releasedLease(now: number): LeaseSpec {
  return { holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(now) };
}
