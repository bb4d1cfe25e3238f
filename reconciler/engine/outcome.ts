import type { ConditionReason } from '../../constructs/api/conditions.ts';
import type { FactName, Facts, FactsWith } from '../../constructs/cluster/facts.ts';
import type { StatusReport } from './status-report.ts';

/** The result of a phase that establishes these facts. Unexpected errors are thrown and retried with back-off. */
export type Outcome<Established extends FactName = never> =
  | Done<EstablishedFacts<Established>>
  | Degraded<EstablishedFacts<Established>>
  | Wait;

/** Facts that hold, including those that a phase establishes. */
export type EstablishedFacts<Established extends FactName> = Partial<Facts> & Pick<FactsWith<Established>, Established>;

export interface Done<Found extends Partial<Facts> = Partial<Facts>> {
  readonly kind: 'done';
  /** Facts for later phases. */
  readonly facts: Found;
  /** When to reconcile again although nothing changed, such as for a renewal. */
  readonly requeueAt?: Date | undefined;
  /** What a person should know although the condition is True. @default ReconcileSucceeded */
  readonly reason?: ConditionReason | undefined;
  /** What is in progress although no phase waits for it, such as a backup. */
  readonly message?: string | undefined;
  readonly report?: StatusReport | undefined;
}

/** Why the condition of a phase is False. */
interface Explained {
  readonly reason: ConditionReason;
  /** One sentence: what is wrong and what to do, or what the phase waits for and what a person can do if it never comes. */
  readonly message: string;
  readonly report?: StatusReport | undefined;
  /** Whether it, or what it waits for, has made no progress in time. */
  readonly isStuck?: boolean | undefined;
}

/** A problem that the user must correct. Everything that exists continues to work: later phases run as usual. */
export interface Degraded<Found extends Partial<Facts> = Partial<Facts>> extends Explained {
  readonly kind: 'degraded';
  /** Facts for later phases, despite the problem. */
  readonly facts: Found;
  /** When to try again; unset if an event triggers the next reconcile. */
  readonly requeueAt?: Date | undefined;
}

export interface Wait extends Explained {
  readonly kind: 'wait';
  /** Facts that already hold. */
  readonly facts: Partial<Facts>;
  /** When to reconcile again; unset if an event triggers the next reconcile. */
  readonly afterMs?: number | undefined;
}

export function done(): Done;
export function done<const Found extends Partial<Facts>>(
  facts: Found,
  requeueAt?: Date,
  more?: Pick<Done, 'reason' | 'message' | 'report'>,
): Done<Found>;
export function done(
  facts: Partial<Facts> = {},
  requeueAt?: Date,
  { reason, message, report }: Pick<Done, 'reason' | 'message' | 'report'> = {},
): Done {
  return { kind: 'done', facts, requeueAt, reason, message, report };
}

/** Done, because the spec asks for none of it: the condition proves nothing. */
export function notRequested(report?: StatusReport): Done {
  return { kind: 'done', facts: {}, reason: 'NotRequested', report };
}

export function degraded<const Found extends Partial<Facts> = Partial<Facts>>(
  reason: ConditionReason,
  message: string,
  more: { readonly facts?: Found } & Partial<Pick<Degraded, 'requeueAt' | 'report' | 'isStuck'>> = {},
): Degraded<Found> {
  const { facts = {} as Found, requeueAt, report, isStuck } = more;
  return { kind: 'degraded', reason, message, facts, requeueAt, report, isStuck };
}

export function wait(
  reason: ConditionReason,
  message: string,
  { facts = {}, afterMs, report, isStuck }: Partial<Pick<Wait, 'facts' | 'afterMs' | 'report' | 'isStuck'>> = {},
): Wait {
  return { kind: 'wait', reason, message, facts, afterMs, report, isStuck };
}

/**
 * The operator has not looked yet since it started, and another reconcile follows when it has. Until then the condition
 * stays as it was.
 */
export function notObserved(
  message: string,
  { facts = {}, report }: Partial<Pick<Wait, 'facts' | 'report'>> = {},
): Wait {
  return wait('NotObserved', message, { facts, report });
}

/**
 * An error that only the user can correct. It is not retried until the spec, or an object that the spec refers to,
 * changes.
 */
export class InvalidConfiguration extends Error {
  override readonly name = 'InvalidConfiguration';
  readonly reason: ConditionReason;

  constructor(reason: ConditionReason, message: string) {
    super(message);
    this.reason = reason;
  }
}
