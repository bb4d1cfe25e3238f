import { type Figure, percentile } from '../figure.ts';
import { periodMs } from './fleet-backups.ts';
import type { HostileAnswers } from './world.ts';

const mebibyte = 1024 * 1024;

/** What was measured beside hostile clusters, and before without them. Times in milliseconds, memory in bytes. */
export interface HostileMeasurement {
  /** Numbers of clusters. */
  readonly good: number;
  readonly hostile: number;
  /** Of each reconcile of good ones. */
  readonly quiet: readonly number[];
  readonly beside: readonly number[];
  readonly answers: HostileAnswers;
  /** Objects that administrators of hostile clusters have changed. */
  readonly changes: number;
  readonly memory: { readonly before: number; readonly peak: number };
  readonly ends: number;
  readonly longestAnswerMs: { readonly quiet: number; readonly beside: number };
  readonly lease: { readonly transitions: number; readonly longestMs: number };
  readonly oldestBackupMs: number;
  readonly missedBackups: number;
}

const none = { atMost: 0 };

export function hostileFigures(of: HostileMeasurement): Figure[] {
  const figure = (what: string, value: number, unit: string, goal?: Figure['goal']): Figure => ({
    name: `hostile: ${what}`,
    value,
    unit,
    ...(goal && { goal }),
  });
  const p99 = { quiet: percentile(of.quiet, 0.99), beside: percentile(of.beside, 0.99) };
  return [
    figure(`answers of API servers of ${of.hostile} hostile clusters`, of.answers.apiServers, 'answers'),
    figure('answers of their etcds', of.answers.etcds, 'answers'),
    figure('answers of their backup stores', of.answers.stores, 'answers'),
    figure('answers of their token services', of.answers.tokenServices, 'answers'),
    figure('changes by their administrators', of.changes, 'objects'),
    figure('memory of the operator before', of.memory.before / mebibyte, 'MiB'),
    figure('memory of the operator at most', of.memory.peak / mebibyte, 'MiB', { atMost: 400 }),
    figure('ends of the operator', of.ends, 'ends', none),
    figure('lost leases', of.lease.transitions, 'leases', none),
    figure('longest time between two renewals of the lease', of.lease.longestMs / 1000, 's'),
    figure('longest answer of the operator to a probe, without them', of.longestAnswerMs.quiet / 1000, 's'),
    figure('longest answer of the operator to a probe', of.longestAnswerMs.beside / 1000, 's'),
    figure(`reconciles of ${of.good} good ones beside them`, of.beside.length, 'reconciles'),
    figure(`p99 of a reconcile of ${of.good} good ones`, p99.quiet / 1000, 's'),
    figure('p99 of a reconcile beside the hostile ones', p99.beside / 1000, 's'),
    figure('p99 of a reconcile beside the hostile ones / without them', p99.beside / p99.quiet, 'ratio', {
      atMost: 1.5,
    }),
    // A period, and another one in which it is taken.
    figure('oldest newest backup of a good one', of.oldestBackupMs / 1000, 's', { atMost: (2 * periodMs) / 1000 }),
    figure('backups of good ones that were not taken in their minute', of.missedBackups, 'backups', none),
  ];
}
