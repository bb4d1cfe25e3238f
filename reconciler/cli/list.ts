import type { HostedControlPlaneObject } from '../clusters/management/hosted-control-plane-object.ts';
import { HostedControlPlane } from '../../constructs/api/resources.ts';
import { table } from './columns.ts';
import { type Command, hasSwitch, type Session, textOption, UsageError } from './command.ts';
import { spanText } from './format.ts';
import { outputOf, outputOption, printed } from './output.ts';
import { type Overview, overviewOf } from './overview.ts';
import { type Paint, plainView, type View } from './view.ts';
import { wrapped } from './wrapped.ts';

/** What `-o json|yaml` prints. */
interface Fleet {
  readonly controlPlanes: readonly Overview[];
}

/** Lists control planes, so that a person sees which one needs them, or who uses a Secret before it is changed. */
export const list: Command = {
  name: 'list',
  usage: '[-A] [--store SECRET] [-o wide|json|yaml|name]',
  summary: 'Lists control planes: what blocks them, members of etcd, expiry of certificates, last backup.',
  options: {
    'all-namespaces': { type: 'boolean', short: 'A', meaning: 'list control planes of all namespaces' },
    store: {
      type: 'string',
      value: 'SECRET',
      meaning: 'list control planes of all namespaces that store their backups with this Secret',
    },
    output: outputOption({ values: 'wide|name', meaning: 'add endpoints, ages and messages; or names of clusters' }),
  },
  access: [
    { resource: HostedControlPlane, verbs: ['list'], why: 'control planes of one namespace' },
    {
      resource: HostedControlPlane,
      verbs: ['list'],
      why: 'control planes of all namespaces, with -A or --store',
      where: 'cluster',
    },
  ],
  prepare(given) {
    const { positionals } = given;
    if (positionals.length > 0) throw new UsageError(`list takes no arguments: remove ${positionals.join(' ')}`);
    const output = outputOf(given, ['wide', 'name']);
    const secret = textOption(given, 'store');
    const isEverywhere = secret !== undefined || hasSwitch(given, 'all-namespaces');
    return async (session) => {
      const { terminal, now, namespace } = session;
      const store = secret === undefined ? undefined : `${namespace}/${secret}`;
      const all = (await stored(session, isEverywhere)).map(overviewOf);
      const controlPlanes = all.filter(({ backupStore }) => store === undefined || backupStore === store);
      const shown = { now: now(), namespace: isEverywhere ? undefined : namespace, isWide: output === 'wide', store };
      const fleet: Fleet = { controlPlanes };
      const lines =
        output === 'name'
          ? controlPlanes.map(({ cluster }) => cluster)
          : printed(output, fleet, () => describeFleet(controlPlanes, shown, terminal));
      for (const line of lines) terminal.print(line);
    };
  },
};

async function stored(
  { client, namespace }: Session,
  isEverywhere: boolean,
): Promise<readonly HostedControlPlaneObject[]> {
  return (await client.list<HostedControlPlaneObject>(HostedControlPlane, isEverywhere ? {} : { namespace })).items;
}

/** What a table of a fleet shows. */
interface FleetTable {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** That of all entries; undefined where each one has its own. */
  readonly namespace: string | undefined;
  /** With endpoints, ages and messages. */
  readonly isWide?: boolean;
  /** The Secret that all of them use, with the state of their backups; undefined for any. */
  readonly store?: string | undefined;
}

/** Human-readable: a table, those that are not Ready first, and below it how many those are, and what is wrong with backups. */
export function describeFleet(entries: readonly Overview[], shown: FleetTable, view: View = plainView): string[] {
  const { namespace, isWide = false, now, store } = shown;
  if (entries.length === 0) return [noneOf(shown)];
  const sorted = [...entries].sort(byNeed);
  const rows = sorted.map((entry) => [
    namespace === undefined ? placeOf(entry) : entry.cluster,
    ...cells(entry, now, view.paint),
    ...(store === undefined ? [] : [backupState(entry, view.paint)]),
    ...(isWide ? furtherCells(entry, now) : []),
  ]);
  const waiting = entries.filter(({ ready }) => !ready).length;
  const faults = sorted.flatMap((entry) => {
    const step = backupsOf(entry);
    const isFault = store !== undefined && (step?.state === 'fails' || step?.state === 'waits');
    const text = `${placeOf(entry)}: ${step?.message}`;
    return isFault ? wrapped(text, view.width, { first: '  ', further: '    ' }) : [];
  });
  const columns = [...heading, ...(store === undefined ? [] : ['BACKUPS']), ...(isWide ? further : [])];
  return [
    ...table([columns, ...rows], view, isWide ? 'prose' : 'names'),
    '',
    `${entries.length} control plane${entries.length === 1 ? '' : 's'}, ${waiting} not Ready`,
    ...(faults.length > 0 ? ['', 'Problems of backups:', ...faults] : []),
  ];
}

function noneOf({ namespace, store }: FleetTable): string {
  if (store !== undefined) return `no cluster stores its backups with Secret ${store}`;
  return namespace === undefined ? 'no control plane exists' : `no control plane exists in namespace ${namespace}`;
}

const heading = ['CLUSTER', 'VERSION', 'RELEASE', 'STATE', 'FOR', 'API SERVERS', 'ETCD', 'CERTIFICATES', 'LAST BACKUP'];
const further = ['ENDPOINT', 'AGE', 'MESSAGE'];

function cells(entry: Overview, now: number, paint: Paint): string[] {
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

function furtherCells({ endpoint, created, blocker }: Overview, now: number): string[] {
  return [
    endpoint ?? '-',
    created === null ? '-' : spanText(now - Date.parse(created)),
    blocker?.message.replaceAll(/\s+/g, ' ').trim() ?? '',
  ];
}

/** What it is, in one word. */
export function stateOf({ ready, blocker }: Overview, paint: Paint): string {
  if (blocker !== null) return paint(blocker.state, blocker.reason);
  return ready ? paint('ok', 'Ready') : paint('unknown', 'Unknown');
}

function backupsOf({ steps }: Overview) {
  return steps.find(({ type }) => type === 'EtcdBackupReady');
}

function backupState(entry: Overview, paint: Paint): string {
  const { state = 'unknown', reason = '' } = backupsOf(entry) ?? {};
  return paint(state, state === 'ok' ? 'ready' : state === 'unknown' ? 'unknown' : reason);
}

/** The time until a certificate expires. */
export function expiry(notAfter: string | null, now: number, paint: Paint): string {
  if (notAfter === null) return '-';
  const left = Date.parse(notAfter) - now;
  return left > 0 ? spanText(left) : paint('fails', `expired ${spanText(-left)} ago`);
}

/** Both versions while they differ. */
export function versionOf({ version, wantedVersion }: Overview): string {
  if (version === null) return wantedVersion === null ? '-' : `to ${wantedVersion}`;
  return wantedVersion === null || wantedVersion === version ? version : `${version} to ${wantedVersion}`;
}

/** The worst first. */
export function byNeed(one: Overview, other: Overview): number {
  return order(one) - order(other) || (placeOf(one) < placeOf(other) ? -1 : 1);
}

function order({ ready, available }: Overview): number {
  return ready ? 2 : available ? 1 : 0;
}

/** As people name it. */
export function placeOf({ namespace, cluster }: Overview): string {
  return `${namespace}/${cluster}`;
}
