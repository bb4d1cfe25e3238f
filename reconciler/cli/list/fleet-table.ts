import { isFault } from '../../reconcile/status/waited-for.ts';
import { spanText } from '../format.ts';
import { table } from '../columns.ts';
import { type Paint, plainView, type View } from '../view.ts';
import type { FleetEntry } from './fleet-entry.ts';

/** What a table of a fleet shows. */
export interface FleetTable {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** That of all entries; undefined where each one has its own. */
  readonly namespace: string | undefined;
  /** With endpoints, ages and messages. */
  readonly isWide?: boolean;
}

/** Human-readable: a table, those that are not Ready first, and below it how many those are. */
export function describeFleet(entries: readonly FleetEntry[], shown: FleetTable, view: View = plainView): string[] {
  const { namespace, isWide = false, now } = shown;
  if (entries.length === 0) {
    return [namespace === undefined ? 'no control plane exists' : `no control plane exists in namespace ${namespace}`];
  }
  const sorted = [...entries].sort((a, b) => order(a) - order(b) || (placeOf(a) < placeOf(b) ? -1 : 1));
  const own = (entry: FleetEntry) => (namespace === undefined ? placeOf(entry) : entry.cluster);
  const waiting = entries.filter(({ ready }) => !ready).length;
  const rows = sorted.map((entry) => [
    own(entry),
    ...cells(entry, now, view.paint),
    ...(isWide ? furtherCells(entry, now) : []),
  ]);
  return [
    ...table([isWide ? [...heading, ...further] : heading, ...rows], view, isWide ? 'prose' : 'names'),
    '',
    `${entries.length} control plane${entries.length === 1 ? '' : 's'}, ${waiting} not Ready`,
  ];
}

const heading = ['CLUSTER', 'VERSION', 'RELEASE', 'STATE', 'FOR', 'API SERVERS', 'ETCD', 'CERTIFICATES', 'LAST BACKUP'];
const further = ['ENDPOINT', 'AGE', 'MESSAGE'];

function cells(entry: FleetEntry, now: number, paint: Paint): string[] {
  const { apiServers, etcdMembers, blocker } = entry;
  const span = (time: string) => spanText(Math.abs(now - Date.parse(time)));
  return [
    versionOf(entry),
    entry.releaseRevision === null ? '-' : String(entry.releaseRevision),
    stateOf(entry, paint),
    blocker === null ? '' : span(blocker.since),
    `${apiServers.ready}/${apiServers.total}`,
    etcdMembers === null ? '-' : `${etcdMembers.voting}/${etcdMembers.total}`,
    expiry(entry.certificatesNotAfter, now, paint),
    entry.lastBackup === null ? 'none' : `${span(entry.lastBackup)} ago`,
  ];
}

function furtherCells({ endpoint, created, blocker }: FleetEntry, now: number): string[] {
  return [
    endpoint ?? '-',
    created === null ? '-' : spanText(now - Date.parse(created)),
    blocker?.message.replaceAll(/\s+/g, ' ').trim() ?? '',
  ];
}

function stateOf({ ready, blocker }: FleetEntry, paint: Paint): string {
  if (blocker !== null) return paint(isFault(blocker) ? 'fails' : 'waits', blocker.reason);
  return ready ? paint('ok', 'Ready') : paint('unknown', 'Unknown');
}

function expiry(notAfter: string | null, now: number, paint: Paint): string {
  if (notAfter === null) return '-';
  const left = Date.parse(notAfter) - now;
  return left > 0 ? spanText(left) : paint('fails', `expired ${spanText(-left)} ago`);
}

/** Both versions while they differ. */
function versionOf({ version, wantedVersion }: FleetEntry): string {
  if (version === null) return wantedVersion === null ? '-' : `to ${wantedVersion}`;
  return wantedVersion === null || wantedVersion === version ? version : `${version} to ${wantedVersion}`;
}

function order({ ready, available }: FleetEntry): number {
  return ready ? 2 : available ? 1 : 0;
}

function placeOf({ namespace, cluster }: FleetEntry): string {
  return `${namespace}/${cluster}`;
}
