import { Cron } from 'croner';
import { durationSeconds } from '../../../constructs/api/duration.ts';
import type { Maintenance } from '../../../constructs/api/maintenance-spec.ts';

/** Whether the maintenance window is open; never without one. */
export function isOpen(maintenance: Maintenance | undefined, now: Date): boolean {
  if (maintenance?.window === undefined) return false;
  const began = new Date(now.getTime() - durationSeconds(maintenance.window.duration) * 1000);
  const start = startAfter(maintenance, began);
  return start !== undefined && start <= now;
}

/** The next time at which the maintenance window opens; undefined without one, or when it never opens. */
export function nextOpening(maintenance: Maintenance | undefined, now: Date): Date | undefined {
  return maintenance?.window && startAfter(maintenance, now);
}

function startAfter({ window, timeZone = 'UTC' }: Maintenance, time: Date): Date | undefined {
  if (window === undefined) return undefined;
  const options = { mode: '5-part', timezone: timeZone, sloppyRanges: true } as const;
  return new Cron(window.start, options).nextRun(time) ?? undefined;
}
