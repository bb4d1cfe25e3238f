import type { HostedControlPlaneObject } from '../clusters/management/hosted-control-plane-object.ts';
import { HostedControlPlane } from '../../constructs/api/resources.ts';
import { isDeepStrictEqual } from 'node:util';
import { fitting, table } from './columns.ts';
import { followingControlPlane } from './access.ts';
import { type Command, hasSwitch, textOption, UsageError } from './command.ts';
import { selectedControlPlanes } from './changes.ts';
import { outputOf, outputOption, printed } from './output.ts';
import { type Overview, overviewOf, type Step } from './overview.ts';
import { age, backupText, expiry, stateAge, stateText } from './state-text.ts';
import { type Paint, plainView, type View } from './view.ts';
import { wrapped } from './wrapped.ts';

/** What `-o json|yaml` prints. */
interface Fleet {
  readonly controlPlanes: readonly Overview[];
}

/** Lists control planes, so that a person sees which one needs them, or who uses a Secret before it is changed. */
export const list: Command = {
  name: 'list',
  examples: [
    ['list -A', 'all control planes that you may list'],
    ['list -n team-a -o wide', 'with releases, endpoints, ages and messages'],
    ['list -A -l env=prod -w', 'those with a label, again after each change'],
    ['list --store bucket', 'the clusters that use a Secret, before you change it'],
  ],
  usage: '[-A] [-l SELECTOR] [--store SECRET] [-w] [-o json|yaml|wide|name] [--no-headers]',
  summary: 'Lists control planes: what they are or what blocks them, ready pods, certificates, last backup.',
  options: {
    'all-namespaces': { type: 'boolean', short: 'A', meaning: 'list control planes of all namespaces' },
    store: {
      type: 'string',
      value: 'SECRET',
      meaning: 'list control planes of all namespaces that store their backups with this Secret',
    },
    selector: { type: 'string', short: 'l', value: 'SELECTOR', meaning: 'list those with these labels, as in kubectl' },
    watch: { type: 'boolean', short: 'w', meaning: 'list them again after each change, until you interrupt it' },
    output: outputOption({
      values: 'wide|name',
      meaning: 'add releases, endpoints and messages; or names of clusters',
    }),
    'no-headers': { type: 'boolean', meaning: 'print the rows of the table alone' },
  },
  access: [
    { resource: HostedControlPlane, verbs: ['list'], why: 'control planes of one namespace' },
    {
      resource: HostedControlPlane,
      verbs: ['list'],
      why: 'control planes of all namespaces, with -A or --store',
      where: 'cluster',
    },
    followingControlPlane('--watch'),
    { ...followingControlPlane('--watch and -A'), where: 'cluster' },
  ],
  prepare(given) {
    const { positionals } = given;
    if (positionals.length > 0)
      throw new UsageError(`list takes no arguments: remove ${positionals.join(' ')}; status shows one control plane`);
    const output = outputOf(given, ['wide', 'name']);
    const secret = textOption(given, 'store');
    const isEverywhere = secret !== undefined || hasSwitch(given, 'all-namespaces');
    const isBare = hasSwitch(given, 'no-headers');
    return async (session) => {
      const { client, terminal, now, namespace } = session;
      const store = secret === undefined ? undefined : `${namespace}/${secret}`;
      const selection = { ...(isEverywhere ? {} : { namespace }), labelSelector: textOption(given, 'selector') };
      const shownNamespace = isEverywhere ? undefined : namespace;
      let last: readonly Overview[] | undefined;
      for await (const items of selectedControlPlanes<HostedControlPlaneObject>(client, selection)) {
        const all = items.map(overviewOf);
        const controlPlanes = all.filter(({ backupStore }) => store === undefined || backupStore === store);
        if (isDeepStrictEqual(controlPlanes, last)) continue;
        if (last !== undefined && output !== 'name') terminal.print(output === 'yaml' ? '---' : '');
        last = controlPlanes;
        const shown = { now: now(), namespace: shownNamespace, isWide: output === 'wide', isBare, store };
        const fleet: Fleet = { controlPlanes };
        const lines =
          output === 'name'
            ? controlPlanes.map((entry) => (isEverywhere ? placeOf(entry) : entry.cluster))
            : printed(output, fleet, () => describeFleet(controlPlanes, shown, terminal));
        for (const line of lines) terminal.print(line);
        if (!hasSwitch(given, 'watch')) return;
      }
    };
  },
};

/** What a table of a fleet shows. */
interface FleetTable {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** That of all entries; undefined where each one has its own. */
  readonly namespace: string | undefined;
  /** With releases, endpoints, ages and messages. */
  readonly isWide?: boolean;
  /** Rows alone, without the heading and the count. */
  readonly isBare?: boolean;
  /** The Secret that all of them use, with the state of their backups; undefined for any. */
  readonly store?: string | undefined;
}

/** Human-readable: a table, those that are not Ready first, and below it how many those are, and what is wrong with backups. */
export function describeFleet(entries: readonly Overview[], shown: FleetTable, view: View = plainView): string[] {
  const { namespace, isWide = false, isBare = false, now, store } = shown;
  if (entries.length === 0) return isBare ? [] : [noneOf(shown)];
  const sorted = [...entries].sort(byNeed);
  const rows = sorted.map((entry) => [
    namespace === undefined ? placeOf(entry) : entry.cluster,
    ...cells(entry, now, view.paint),
    ...(store === undefined ? [] : [backupState(entry, view.paint)]),
    ...(isWide ? furtherCells(entry, now) : []),
  ]);
  const lineOf = (entry: Overview, step: Pick<Step, 'message'>) =>
    wrapped(`${placeOf(entry)}: ${step.message}`, view.width, { first: '  ', further: '    ' });
  const faults = sorted.flatMap((entry) => {
    const step = backupsOf(entry);
    const isFault = store !== undefined && (step?.state === 'fails' || step?.state === 'waits');
    return isFault ? lineOf(entry, step) : [];
  });
  const messages = sorted.flatMap((entry) => {
    const steps = [...(entry.blocker ? [entry.blocker] : []), ...entry.problems];
    return isWide ? steps.filter(({ message }) => message !== '').flatMap((step) => lineOf(entry, step)) : [];
  });
  const columns = [...heading, ...(store === undefined ? [] : ['BACKUPS']), ...(isWide ? further : [])];
  const shownColumns = fitting([columns, ...rows], isWide ? undefined : view.width, givingWay);
  const lines = table(shownColumns.rows, view);
  const { leftOut } = shownColumns;
  if (isBare) return lines.slice(1);
  return [
    ...lines,
    '',
    summaryOf(entries),
    ...(leftOut.length > 0 ? [`no room for ${leftOut.join(', ')}: -o wide shows all`] : []),
    ...(messages.length > 0 ? ['', 'Messages:', ...messages] : []),
    ...(faults.length > 0 ? ['', 'Problems of backups:', ...faults] : []),
  ];
}

function noneOf({ namespace, store }: FleetTable): string {
  if (store !== undefined) return `no cluster stores its backups with Secret ${store}`;
  return namespace === undefined
    ? 'no control plane exists'
    : `no control plane exists in namespace ${namespace}: -A lists all`;
}

/** How many there are, and how many of them are not simply Ready. What a user has asked for is not counted as not Ready. */
function summaryOf(entries: readonly Overview[]): string {
  const count = (kinds: readonly Kind[]) => entries.filter(({ state }) => kinds.includes(state.kind)).length;
  const others = [
    [count(['impaired']), 'Ready with a problem'],
    [count(['paused']), 'paused'],
    [count(['hibernating', 'hibernated']), 'hibernated'],
    [count(['deleting']), 'being deleted'],
  ] as const;
  return [
    `${entries.length} control plane${entries.length === 1 ? '' : 's'}`,
    `${count(notReady)} not Ready`,
    ...others.flatMap(([number, what]) => (number > 0 ? [`${number} ${what}`] : [])),
  ].join(', ');
}

type Kind = Overview['state']['kind'];
const notReady: readonly Kind[] = ['failing', 'waiting', 'unknown'];

const heading = ['CLUSTER', 'VERSION', 'STATE', 'FOR', 'API SERVERS', 'ETCD', 'CERTIFICATES', 'LAST BACKUP'];
/** What a narrow terminal does without, the first one first. STATE says what is wrong with any of them. */
const givingWay = ['CERTIFICATES', 'LAST BACKUP', 'API SERVERS', 'ETCD', 'FOR'];
const further = ['RELEASE', 'ENDPOINT', 'AGE'];

function cells(entry: Overview, now: number, paint: Paint): string[] {
  const { apiServers, etcd } = entry;
  return [
    versionOf(entry),
    stateText(entry, paint),
    stateAge(entry, now),
    `${apiServers.ready}/${apiServers.total}`,
    etcd === null ? '-' : `${etcd.ready}/${etcd.total}`,
    expiry(entry.certificatesNotAfter, now, paint),
    backupText(entry, now, paint),
  ];
}

function furtherCells({ releaseRevision, endpoint, created }: Overview, now: number): string[] {
  return [
    releaseRevision === null ? '-' : String(releaseRevision),
    endpoint ?? '-',
    created === null ? '-' : age(created, now),
  ];
}

function backupsOf({ steps }: Overview) {
  return steps.find(({ type }) => type === 'EtcdBackupReady');
}

function backupState(entry: Overview, paint: Paint): string {
  const { state = 'unknown', reason = '' } = backupsOf(entry) ?? {};
  return paint(state, state === 'ok' ? 'ready' : state === 'unknown' ? 'unknown' : reason);
}

/** Both versions while they differ. */
export function versionOf({ version, wantedVersion }: Overview): string {
  if (version === null) return wantedVersion === null ? '-' : `to ${wantedVersion}`;
  return wantedVersion === null || wantedVersion === version ? version : `${version} to ${wantedVersion}`;
}

/** The worst first: those that need a person, and those that serve after those that do not. */
export function byNeed(one: Overview, other: Overview): number {
  return rank(one) - rank(other) || (placeOf(one) < placeOf(other) ? -1 : 1);
}

function rank({ state: { kind }, available }: Overview): number {
  if (notReady.includes(kind)) return available ? 1 : 0;
  return kind === 'impaired' ? 2 : 3;
}

/** As people name it. */
export function placeOf({ namespace, cluster }: Overview): string {
  return `${namespace}/${cluster}`;
}
