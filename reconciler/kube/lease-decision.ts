import { microTime } from './micro-time.ts';
import type { KubeObject } from './object.ts';

/** A coordination.k8s.io/v1 Lease. */
export interface LeaseObject extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

/** How long leadership lasts and how often it is renewed, in milliseconds. */
export interface LeaseTimes {
  /** Others may take over when the holder has not renewed for this long. */
  readonly durationMs: number;
  /** The holder gives up when it could not renew for this long; less than `durationMs`, or two could lead at once. */
  readonly renewDeadlineMs: number;
  /** Between two tries, of holder and candidates alike. */
  readonly retryMs: number;
}

/** The lease as it was last seen to change. Only our own clock is trusted: the holder's may be wrong by hours. */
export interface LeaseObservation {
  /** resourceVersion of the lease. */
  readonly version: string;
  readonly changedAt: number;
}

/** What to do about the lease now. */
export type LeaseDecision =
  | { readonly type: 'create'; readonly spec: LeaseSpec }
  | { readonly type: 'take' | 'renew'; readonly spec: LeaseSpec }
  | { readonly type: 'wait'; readonly holder: string };

type LeaseSpec = NonNullable<LeaseObject['spec']>;

/** The new observation after a look at the lease. */
export function observeLease(
  lease: LeaseObject | undefined,
  before: LeaseObservation | undefined,
  now: number,
): LeaseObservation {
  const version = lease?.metadata.resourceVersion ?? '';
  return before?.version === version ? before : { version, changedAt: now };
}

/** Creates, renews or takes over the lease, or leaves it to its holder. */
export function decideLease(
  lease: LeaseObject | undefined,
  observation: LeaseObservation,
  identity: string,
  now: number,
  times: LeaseTimes,
): LeaseDecision {
  const renewal = {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(times.durationMs / 1000),
    renewTime: microTime(now),
  };
  const taking = { ...renewal, acquireTime: microTime(now) };
  if (!lease) return { type: 'create', spec: { ...taking, leaseTransitions: 0 } };
  const { holderIdentity: holder = '', leaseDurationSeconds, leaseTransitions = 0 } = lease.spec ?? {};
  if (holder === identity) return { type: 'renew', spec: renewal };
  // The holder may run with a longer duration than ours, and it is the holder's that it relies on.
  const durationMs = leaseDurationSeconds ? leaseDurationSeconds * 1000 : times.durationMs;
  if (holder !== '' && now < observation.changedAt + durationMs) return { type: 'wait', holder };
  return { type: 'take', spec: { ...taking, leaseTransitions: leaseTransitions + 1 } };
}

/** What the holder writes when it leaves: anybody may take the lease at once. */
export function releasedLease(now: number): LeaseSpec {
  return { holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(now) };
}
