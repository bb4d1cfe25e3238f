import { degraded, InvalidConfiguration, type Outcome } from './outcome.ts';

/** The part of a scope that says whether its clock is right. */
export interface Timed {
  readonly clockFault?: string | undefined;
}

/** What a phase reports that does nothing but by the time; undefined while the clock is right. @param what waits, as a clause */
export function heldByClock({ clockFault }: Timed, what: string): Outcome | undefined {
  return clockFault === undefined ? undefined : degraded('ClockWrong', `${what} until the clocks agree: ${clockFault}`);
}

/**
 * Before something is issued for the first time, without which its phase cannot go on. The phase `clock` asks for the next
 * reconcile. @throws while the clock is wrong
 */
export function requireRightClock({ clockFault }: Timed, what: string): void {
  if (clockFault === undefined) return;
  throw new InvalidConfiguration('ClockWrong', `${what} is not issued until the clocks agree: ${clockFault}`);
}
