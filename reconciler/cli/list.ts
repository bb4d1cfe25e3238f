import { stringify } from 'yaml';
import { HostedControlPlane } from '../../constructs/api/resources.ts';
import { spanText } from './amounts.ts';
import { columns } from './columns.ts';
import { type Command, hasSwitch, type Session, textOption, UsageError } from './command.ts';
import { clusterOf } from './control-plane.ts';
import { blockerOf, conditionOf, type StoredControlPlane } from './control-plane-state.ts';

/** What `-o` chooses, for other programs. */
const formats: Readonly<Record<string, (entries: readonly FleetEntry[]) => string[]>> = {
  json: (entries) => [JSON.stringify({ controlPlanes: entries }, undefined, 2)],
  yaml: (entries) => [stringify({ controlPlanes: entries }).trimEnd()],
  name: (entries) => entries.map(({ cluster }) => cluster),
};

/** Lists control planes, so that a person sees which one needs them. */
export const list: Command = {
  name: 'list',
  usage: '[-A] [-o json|yaml|name]',
  summary: 'Lists control planes: what blocks them, members of etcd, expiry of certificates, last backup.',
  options: {
    'all-namespaces': { type: 'boolean', short: 'A', meaning: 'list those of all namespaces' },
    output: {
      type: 'string',
      short: 'o',
      value: 'json|yaml|name',
      meaning: 'print JSON, YAML, or names of clusters only',
    },
  },
  prepare(given) {
    const { positionals } = given;
    if (positionals.length > 0) throw new UsageError(`list takes no arguments: remove ${positionals.join(' ')}`);
    const output = textOption(given, 'output');
    const format = output === undefined ? undefined : formats[output];
    if (output !== undefined && !format) {
      throw new UsageError(`-o must be one of ${Object.keys(formats).join(', ')}, not "${output}"`);
    }
    const isEverywhere = hasSwitch(given, 'all-namespaces');
    return async (session) => {
      const entries = (await stored(session, isEverywhere)).map((object) => entryOf(object));
      const where = isEverywhere ? undefined : session.namespace;
      const lines = format ? format(entries) : describeFleet(entries, session.now(), where);
      for (const line of lines) session.terminal.print(line);
    };
  },
};

async function stored({ client, namespace }: Session, isEverywhere: boolean): Promise<StoredControlPlane[]> {
  const { items } = await client.list<StoredControlPlane>(HostedControlPlane, isEverywhere ? {} : { namespace });
  return items;
}

/** One control plane of a fleet. Fields may be added; existing fields never change their meaning. */
export interface FleetEntry {
  readonly namespace: string;
  readonly cluster: string;
  /** What all API servers serve; null before one does. */
  readonly version: string | null;
  /** What the spec asks for. */
  readonly wantedVersion: string | null;
  readonly releaseRevision: number | null;
  readonly ready: boolean;
  readonly available: boolean;
  /** Of the condition that blocks, or of Ready itself; null when it is Ready. */
  readonly blocker: { readonly type: string; readonly reason: string; readonly since: string } | null;
  readonly apiServers: { readonly ready: number; readonly total: number };
  /** Members that have a vote, of those that there should be; null before etcd is known. */
  readonly etcdMembers: { readonly voting: number; readonly total: number } | null;
  readonly certificatesNotAfter: string | null;
  readonly lastBackup: string | null;
}

const voting: readonly string[] = ['Leader', 'Follower'];

export function entryOf(object: StoredControlPlane): FleetEntry {
  const { metadata, spec, status } = object;
  const blocker = blockerOf(object);
  const members = status?.etcd?.members;
  return {
    namespace: metadata.namespace ?? '',
    cluster: clusterOf(object) ?? metadata.name,
    version: status?.version ?? null,
    wantedVersion: spec?.version ?? null,
    releaseRevision: status?.releaseRevision ?? null,
    ready: conditionOf(object, 'Ready')?.status === 'True',
    available: conditionOf(object, 'Available')?.status === 'True',
    blocker: blocker ? { type: blocker.type, reason: blocker.reason, since: blocker.lastTransitionTime } : null,
    apiServers: { ready: status?.readyReplicas ?? 0, total: status?.replicas ?? 0 },
    etcdMembers: members
      ? { voting: members.filter(({ role }) => voting.includes(role)).length, total: members.length }
      : null,
    certificatesNotAfter: status?.certificatesNotAfter ?? null,
    lastBackup: status?.etcdLastBackupTime ?? null,
  };
}

/** Human-readable: a table, those that are not Ready first, and below it how many those are. */
export function describeFleet(entries: readonly FleetEntry[], now: number, namespace: string | undefined): string[] {
  if (entries.length === 0) {
    return [namespace === undefined ? 'no control plane exists' : `no control plane exists in namespace ${namespace}`];
  }
  const sorted = [...entries].sort((a, b) => order(a) - order(b) || (placeOf(a) < placeOf(b) ? -1 : 1));
  const own = (entry: FleetEntry) => (namespace === undefined ? placeOf(entry) : entry.cluster);
  const waiting = entries.filter(({ ready }) => !ready).length;
  return [
    ...columns([heading, ...sorted.map((entry) => [own(entry), ...cells(entry, now)])]),
    '',
    `${entries.length} control plane${entries.length === 1 ? '' : 's'}, ${waiting} not Ready`,
  ];
}

const heading = ['CLUSTER', 'VERSION', 'RELEASE', 'STATE', 'FOR', 'API SERVERS', 'ETCD', 'CERTIFICATES', 'LAST BACKUP'];

function cells(entry: FleetEntry, now: number): string[] {
  const { apiServers, etcdMembers, blocker } = entry;
  const span = (time: string) => spanText(Math.abs(now - Date.parse(time)));
  return [
    versionOf(entry),
    entry.releaseRevision === null ? '-' : String(entry.releaseRevision),
    blocker === null ? (entry.ready ? 'Ready' : 'Unknown') : blocker.reason,
    blocker === null ? '' : span(blocker.since),
    `${apiServers.ready}/${apiServers.total}`,
    etcdMembers === null ? '-' : `${etcdMembers.voting}/${etcdMembers.total}`,
    expiry(entry.certificatesNotAfter, now),
    entry.lastBackup === null ? 'none' : `${span(entry.lastBackup)} ago`,
  ];
}

function expiry(notAfter: string | null, now: number): string {
  if (notAfter === null) return '-';
  const left = Date.parse(notAfter) - now;
  return left > 0 ? spanText(left) : `expired ${spanText(-left)} ago`;
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
