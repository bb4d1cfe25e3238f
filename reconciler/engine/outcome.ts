import type { ConditionReason } from '../../constructs/api/conditions.ts';
import type { EtcdStatus } from '../../constructs/api/etcd-status.ts';
import type { HostedControlPlaneStatus } from '../../constructs/api/status.ts';
import type { FactName, Facts, FactsWith } from '../../constructs/cluster/facts.ts';

/** What a phase has found out for the status, besides its condition. What is missing stays as it was. */
export type StatusReport = Partial<Omit<HostedControlPlaneStatus, 'conditions' | 'etcd'>> & {
  readonly etcd?: Partial<EtcdStatus>;
};

/** How a phase ended that establishes these facts. Anything unexpected is thrown and retried with back-off. */
export type Outcome<Established extends FactName = never> =
  | Done<EstablishedFacts<Established>>
  | Degraded<EstablishedFacts<Established>>
  | Wait;

/** Facts that hold, those named among them. */
export type EstablishedFacts<Established extends FactName> = Partial<Facts> & Pick<FactsWith<Established>, Established>;

export interface Done<Found extends Partial<Facts> = Partial<Facts>> {
  readonly kind: 'done';
  /** What later phases may rely on. */
  readonly facts: Found;
  /** When there is something to do again although nothing changed, such as a renewal. */
  readonly requeueAt?: Date | undefined;
  /** What is going on although nothing is waited for, such as a backup. */
  readonly message?: string | undefined;
  readonly report?: StatusReport | undefined;
}

/** Something is wrong that the user must mend, and what is there already goes on working: later phases run as before. */
export interface Degraded<Found extends Partial<Facts> = Partial<Facts>> {
  readonly kind: 'degraded';
  readonly reason: ConditionReason;
  /** One sentence: what is wrong and what to do. */
  readonly message: string;
  /** What later phases may rely on all the same. */
  readonly facts: Found;
  /** When to try again; missing where an event will tell. */
  readonly requeueAt?: Date | undefined;
  readonly report?: StatusReport | undefined;
}

export interface Wait {
  readonly kind: 'wait';
  readonly reason: ConditionReason;
  /** One sentence: what is waited for, and what a person can do if it never comes. */
  readonly message: string;
  /** Facts that hold already. */
  readonly facts: Partial<Facts>;
  /** Look again after this long; missing where an event will tell. */
  readonly afterMs?: number | undefined;
  readonly report?: StatusReport | undefined;
}

export function done(): Done;
export function done<const Found extends Partial<Facts>>(
  facts: Found,
  requeueAt?: Date,
  more?: Pick<Done, 'message' | 'report'>,
): Done<Found>;
export function done(
  facts: Partial<Facts> = {},
  requeueAt?: Date,
  { message, report }: Pick<Done, 'message' | 'report'> = {},
): Done {
  return { kind: 'done', facts, requeueAt, message, report };
}

export function degraded<const Found extends Partial<Facts>>(
  reason: ConditionReason,
  message: string,
  facts: Found,
  { requeueAt, report }: Pick<Degraded, 'requeueAt' | 'report'> = {},
): Degraded<Found> {
  return { kind: 'degraded', reason, message, facts, requeueAt, report };
}

export function wait(
  reason: ConditionReason,
  message: string,
  { facts = {}, afterMs, report }: Partial<Pick<Wait, 'facts' | 'afterMs' | 'report'>> = {},
): Wait {
  return { kind: 'wait', reason, message, facts, afterMs, report };
}

/** The user must change something; nothing is retried until the spec, or what it refers to, changes. */
export class InvalidConfiguration extends Error {
  override readonly name = 'InvalidConfiguration';
  readonly reason: ConditionReason;

  constructor(reason: ConditionReason, message: string) {
    super(message);
    this.reason = reason;
  }
}
