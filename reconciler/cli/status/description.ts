import type { ConditionType } from '../../../constructs/api/conditions.ts';
import { clusterNameLabel } from '../../../constructs/api/group.ts';
import { table } from '../columns.ts';
import { spanText } from '../format.ts';
import { expiry } from '../list.ts';
import type { Overview, Step } from '../overview.ts';
import { plainView, type View } from '../view.ts';
import { hanging, wrapped } from '../wrapped.ts';
import { tree } from './causes.ts';
import type { Cause } from './warnings.ts';
import type { Workers } from './workers.ts';

/** What `hcp status` has found of a control plane: the shape of `-o json|yaml`. */
export interface StatusReport extends Overview {
  /** What does not work behind the steps, also while it is Ready. */
  readonly causes: readonly Cause[];
  /** Null when this user may not read Machines. */
  readonly workers: Workers | null;
  /** What this user may not read. */
  readonly unknown: readonly string[];
}

/** What a person reads: a summary, the one thing that blocks with what is behind it, components, steps and certificates. */
export function describeStatus(
  overview: Overview,
  causes: readonly Cause[],
  now: number,
  view: View = plainView,
): string[] {
  const { paint } = view;
  const { blocker, steps } = overview;
  return [
    ...facts(overview, now, view),
    '',
    ...(blocker ? blockerLines(blocker, overview, now, view) : [readiness(overview, view)]),
    ...tree(causes, view.width),
    '',
    ...componentLines(overview, view),
    ...table(
      [
        ['STEP', 'STATE', 'FOR', 'REASON'],
        ...steps.map(({ type, state, since, reason }) => [
          type,
          paint(state, state),
          spanSince(since, now),
          state === 'ok' ? '' : reason,
        ]),
      ],
      view,
    ),
    ...certificateLines(overview, now, view),
    ...otherFailures(overview, view),
  ];
}

function spanSince(time: string, now: number): string {
  return spanText(now - Date.parse(time));
}

/** As `kubectl explain` has it. */
function pathOf(field: string): string {
  return field === 'spec' ? field : `spec.${field}`;
}

/** The summary: a name and what is known of it in each line. */
function facts(overview: Overview, now: number, { width }: View): string[] {
  const { namespace, cluster, endpoint, apiServers, etcdMembers, version, wantedVersion } = overview;
  const known: (readonly [name: string, text: string])[] = [
    ['Cluster', `${namespace}/${cluster}`],
    ['Endpoint', endpoint ?? 'not known yet'],
    ['Version', version === wantedVersion ? (version ?? '-') : `${version ?? 'none'}, wanted ${wantedVersion ?? '-'}`],
    ['API servers', `${apiServers.ready} of ${apiServers.total} ready`],
    ['etcd', etcdMembers === null ? 'not known yet' : `${etcdMembers.voting} of ${etcdMembers.total} members vote`],
    ...overview.held.map(
      ({ field, because, since }) => ['Held', `${pathOf(field)} for ${spanSince(since, now)}: ${because}`] as const,
    ),
    ...overview.ongoing.map(({ type, message, since }) => [type, message || `for ${spanSince(since, now)}`] as const),
  ];
  const longest = Math.max(...known.map(([name]) => name.length));
  return known.flatMap(([name, text]) => wrapped(text, width, { first: `${name.padEnd(longest)}   ` }));
}

function readiness({ ready }: Overview, { paint }: View): string {
  return ready ? paint('ok', 'Ready') : paint('unknown', 'nothing is reported yet: does the operator run?');
}

/** What blocks, in its own words. The next command stays one line, because a person copies it. */
function blockerLines(blocker: Step, overview: Overview, now: number, { paint, width }: View): string[] {
  const notReady = paint(blocker.state, 'Not Ready');
  return [
    ...wrapped(
      `${notReady} for ${spanSince(blocker.since, now)}: ${blocker.type} is ${blocker.reason}`,
      width,
      hanging,
    ),
    ...(blocker.message === '' ? [] : wrapped(blocker.message, width, { first: '  ' })),
    `  next: ${nextCommand(blocker, overview)}`,
  ];
}

/** A line for each component, and an empty one; none before the operator has reported them. */
function componentLines({ components }: Overview, view: View): string[] {
  if (components.length === 0) return [];
  const rows = components.map(({ name, readyReplicas = 0, replicas = 0, version = '-', message = '' }) => [
    name,
    view.paint(readyReplicas === replicas && message === '' ? 'ok' : 'waits', `${readyReplicas}/${replicas}`),
    version,
    message,
  ]);
  return [...table([['COMPONENT', 'READY', 'VERSION', 'WAITS FOR'], ...rows], view, 'prose'), ''];
}

/** An empty line, and one for each kind of certificates; none before the operator has reported them. */
function certificateLines({ certificates }: Overview, now: number, view: View): string[] {
  if (certificates.length === 0) return [];
  const rows = certificates.map(({ kind, notAfter, renewsAt, secret, expiring = [] }) => [
    kind,
    expiry(notAfter, now, view.paint),
    renewsAt === undefined ? 'by its user' : expiry(renewsAt, now, (_, text) => text.replace('expired', 'due')),
    secret,
    view.paint('fails', expiring.join(', ')),
  ]);
  return [
    '',
    ...table([['CERTIFICATES', 'EXPIRE IN', 'RENEWED IN', 'FIRST OF THEM', 'RENEWAL IS LATE'], ...rows], view),
  ];
}

/** The messages of what fails besides the blocker. */
function otherFailures({ steps, blocker }: Overview, { paint, width }: View): string[] {
  const failing = steps.filter(({ type, state }) => type !== blocker?.type && state === 'fails');
  const lines = failing.flatMap(({ type, message }) => wrapped(`${paint('fails', type)}: ${message}`, width, hanging));
  return lines.length === 0 ? [] : ['', ...lines];
}

/** The command that shows what a condition is about, where it is not the HostedControlPlane itself. */
const shownBy: Partial<Record<ConditionType, 'backups' | 'pods'>> = {
  EtcdClusterHealthy: 'backups',
  EtcdRestoreReady: 'backups',
  EtcdClusterReady: 'pods',
  APIServerDeploymentsReady: 'pods',
  ControllerManagerReady: 'pods',
  SchedulerReady: 'pods',
};

/** The command that shows more of what blocks. */
export function nextCommand({ type }: Step, { namespace, name, cluster }: Overview): string {
  const what = shownBy[type];
  if (what === 'pods') return `kubectl -n ${namespace} get pods -l ${clusterNameLabel}=${cluster}`;
  return what === undefined ? `kubectl -n ${namespace} describe hcp ${name}` : `hcp ${what} ${cluster} -n ${namespace}`;
}
