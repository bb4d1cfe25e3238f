import { backOff } from '../kube/back-off.ts';
import { InvalidConfiguration } from '../engine/outcome.ts';
import type { WorkState } from '../engine/tasks/background-work.ts';
import type { BackupCause } from './causes.ts';
import { isBackupDue, longestPeriodMs, nextBackupTime, type Schedule } from './schedule.ts';

/** The input of a decision about backups: plain data. */
export interface BackupInput {
  readonly schedule: Schedule;
  readonly now: number;
  /** When the newest backup began, in milliseconds since the epoch; undefined if none is known. */
  readonly lastBackup: number | undefined;
  /** Since when a backup is due if there is none. @default now */
  readonly createdAt?: number | undefined;
  /** Requests for a backup besides the schedule that have no backup yet. */
  readonly causes: readonly BackupCause[];
  /** Other inputs on which a failure may depend. A change of them leads to an immediate retry. */
  readonly settings: unknown;
  readonly work: WorkState;
  /** At least one etcd member is ready. */
  readonly hasMember: boolean;
  /** Whether the clock is wrong: then no scheduled time comes. @default it is right */
  readonly isClockWrong?: boolean | undefined;
  /** The cluster has been used. A first backup of an empty etcd has no value. */
  readonly hasContent: boolean;
}

/** What to do about backups now. */
type BackupDecision =
  | { readonly kind: 'idle'; readonly nextTime: number }
  | { readonly kind: 'start'; readonly inputsKey: string }
  /** It may be late: from `overdueAt` on it has been due for a period of the schedule. */
  | { readonly kind: 'running'; readonly progress: string; readonly overdueAt: number | undefined }
  | { readonly kind: 'waitForClock' }
  | { readonly kind: 'waitForMembers' }
  | { readonly kind: 'waitForContent' }
  | { readonly kind: 'backOff'; readonly error: unknown; readonly retryTime: number };

const retries = { firstMs: 60_000, longestMs: 60 * 60_000 };

/** Decides whether to take a backup now, as a chain of checks. @throws a sentence for the user about the schedule */
export function planBackup(input: BackupInput): BackupDecision {
  const { schedule, now, lastBackup, causes, work, hasMember, hasContent, isClockWrong } = input;
  if (work.kind === 'running')
    return { kind: 'running', progress: work.progress, overdueAt: overdueAt(input, work.since.getTime()) };
  if (isClockWrong && causes.length === 0) return { kind: 'waitForClock' };
  const isDue = isBackupDue(schedule, lastBackup, now);
  if (!isDue && causes.length === 0) return { kind: 'idle', nextTime: nextBackupTime(schedule, now) };
  if (!hasContent && causes.length === 0) return { kind: 'waitForContent' };
  const inputsKey = JSON.stringify([isDue, [...causes].sort(), input.settings]);
  if (work.kind === 'failed' && work.inputsKey === inputsKey) {
    const retryTime = work.at.getTime() + backOffMs(work.error, work.failures);
    if (now < retryTime) return { kind: 'backOff', error: work.error, retryTime };
  }
  return hasMember ? { kind: 'start', inputsKey } : { kind: 'waitForMembers' };
}

/** After a pause of the operator or of the control plane, and for the first backup of all, an attempt is not late at once. */
const attemptMs = 60 * 60_000;

/** When the backup that runs, or waits for its turn, has been due for a period. */
function overdueAt({ schedule, now, lastBackup, createdAt = now }: BackupInput, since: number): number | undefined {
  if (!isBackupDue(schedule, lastBackup, now)) return undefined;
  const next = lastBackup === undefined ? Infinity : nextBackupTime(schedule, lastBackup);
  const dueAt = next <= now ? next : createdAt;
  const periodMs = longestPeriodMs(schedule);
  return Math.max(dueAt + periodMs, since + Math.min(periodMs, attemptMs));
}

/** One minute after the first failure, doubled after each further failure, at most one hour. */
export function backOffMs(error: unknown, failures: number): number {
  // Reading a Secret again costs one request, and no event reports that it was corrected.
  if (error instanceof InvalidConfiguration) return retries.firstMs;
  return backOff(retries, failures);
}
