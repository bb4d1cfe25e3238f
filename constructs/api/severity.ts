/**
 * What the events of a control plane say when a condition gets a reason.
 * - `Warning`: something is broken, or a person has to act.
 * - `Outage`: a Warning once workers can join. Before, nothing has failed: the control plane is still coming up.
 * - `Normal`: a step worth knowing.
 * - `Routine`: nothing. Every bring-up or every change has it, and only the log names it.
 */
export type Severity = 'Warning' | 'Outage' | 'Normal' | 'Routine';

/** Reasons any condition may carry, with their severity unless the condition declares another one. */
export const sharedReasons = {
  ReconcileSucceeded: 'Routine',
  // True, because nothing is missing, and no proof of anything: the spec asks for none of it.
  NotRequested: 'Routine',
  ReconcileFailed: 'Warning',
  InvalidConfiguration: 'Warning',
  ObjectRefused: 'Warning',
  ObjectContested: 'Warning',
  WaitingForOtherPhases: 'Routine',
  NotObserved: 'Routine',
  // The condition ClocksAgree reports it.
  ClockWrong: 'Routine',
  Deleting: 'Routine',
} as const satisfies Readonly<Record<string, Severity>>;

/** What a condition means when it is true, and every reason it may have besides `sharedReasons`, with its severity. */
export interface ConditionDescription {
  readonly meaning: string;
  readonly reasons: Readonly<Record<string, Severity>>;
}
