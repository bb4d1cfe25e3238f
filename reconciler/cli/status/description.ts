import type { ConditionType } from '../../../constructs/api/conditions.ts';
import { clusterNameLabel } from '../../../constructs/api/group.ts';
import { table } from '../columns.ts';
import { nextCommand, spanText } from '../format.ts';
import type { Overview, Step } from '../overview.ts';
import { backupText, etcdText, expiry, stateText } from '../state-text.ts';
import { plainView, type View } from '../view.ts';
import { hanging, wrapped } from '../wrapped.ts';
import { tree } from './causes.ts';
import type { Cause } from './warnings.ts';
import { describeWorkers, type Workers } from './workers.ts';

/** What `hcp status` has found of a control plane: the shape of `-o json|yaml`. */
export interface StatusReport extends Overview {
  /** What does not work behind the steps, also while it is Ready. */
  readonly causes: readonly Cause[];
  /** Null when this user may not read Machines. */
  readonly workers: Workers | null;
  /** What this user may not read. */
  readonly unknown: readonly string[];
}

/** What is shown of it. */
interface Shown {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Every step, component and certificate, not only what is not as it should be. */
  readonly hasSteps?: boolean;
}

/** What a person reads: a summary, what it is or what blocks it with what is behind it, and what else is not as it should be. */
export function describeStatus(report: StatusReport, shown: Shown, view: View = plainView): string[] {
  const sections = [
    facts(report, shown.now, view),
    [...stateLines(report, shown.now, view), ...tree(report.causes, view.width)],
    problemLines(report, view),
    componentLines(report, shown, view),
    stepLines(report, shown, view),
    certificateLines(report, shown, view),
  ];
  return sections.filter((lines) => lines.length > 0).flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]));
}

function spanSince(time: string, now: number): string {
  return spanText(now - Date.parse(time));
}

/** As `kubectl explain` has it. */
function pathOf(field: string): string {
  return field === 'spec' ? field : `spec.${field}`;
}

/** The summary: a name and what is known of it in each line. */
function facts(report: StatusReport, now: number, { width, paint }: View): string[] {
  const { namespace, cluster, endpoint, apiServers, version, wantedVersion, workers } = report;
  const known: (readonly [name: string, text: string])[] = [
    ['Cluster', `${namespace}/${cluster}`],
    ['Endpoint', endpoint ?? 'not known yet'],
    ['Version', version === wantedVersion ? (version ?? '-') : `${version ?? 'none'}, wanted ${wantedVersion ?? '-'}`],
    ['API servers', `${apiServers.ready} of ${apiServers.total} ready`],
    ['etcd', etcdText(report)],
    ['Workers', workers === null ? 'not known' : describeWorkers(workers)],
    ['Backups', backupText(report, now, paint)],
    ['Certificates', `the first expires in ${expiry(report.certificatesNotAfter, now, paint)}`],
    ...report.held.map(
      ({ field, because, since }) => ['Held', `${pathOf(field)} for ${spanSince(since, now)}: ${because}`] as const,
    ),
    ...report.ongoing.map(({ type, message, since }) => [type, message || `for ${spanSince(since, now)}`] as const),
  ];
  const longest = Math.max(...known.map(([name]) => name.length));
  return known.flatMap(([name, text]) => wrapped(text, width, { first: `${name.padEnd(longest)}   ` }));
}

/** The command that ends what a user has asked for; undefined in other states. */
export function wayOut({ state: { kind }, cluster, namespace }: Overview): string | undefined {
  if (kind === 'paused') return nextCommand('resume', cluster, namespace);
  return kind === 'hibernated' ? nextCommand('wake', cluster, namespace) : undefined;
}

/** What it is. What a user has asked for comes with the way out of it. */
function stateLines(report: StatusReport, now: number, view: View): string[] {
  const { state, blocker, cluster } = report;
  const out = `  next: ${wayOut(report)}`;
  const since = state.since === null ? '' : ` since ${spanSince(state.since, now)}`;
  switch (state.kind) {
    case 'ready':
    case 'impaired':
      return [stateText(report, view.paint)];
    case 'unknown':
      return [view.paint('unknown', 'nothing is reported yet: does the operator run?')];
    case 'paused':
      return [
        `${cluster} is ${view.paint('waits', 'paused')}${since}: everything here is of the time before`,
        out,
        ...(blocker ? blockerLines(blocker, report, now, view) : []),
      ];
    case 'hibernated':
      return [`${cluster} ${view.paint('off', 'hibernates')}${since}`, out];
    case 'hibernating':
    case 'deleting':
    case 'waiting':
    case 'failing':
      return blocker ? blockerLines(blocker, report, now, view) : [];
  }
}

/** What blocks, in its own words. The next command stays one line, because a person copies it. */
function blockerLines(blocker: Step, report: StatusReport, now: number, { paint, width }: View): string[] {
  const notReady = paint(blocker.state, 'Not Ready');
  const blocked = report.steps.filter(({ reason }) => reason === 'WaitingForOtherPhases').length;
  return [
    ...wrapped(
      `${notReady} for ${spanSince(blocker.since, now)}: ${blocker.type} is ${blocker.reason}`,
      width,
      hanging,
    ),
    ...(blocker.message === '' ? [] : wrapped(blocker.message, width, { first: '  ' })),
    ...(blocked > 0 ? [`  blocks ${blocked} further step${blocked === 1 ? '' : 's'}`] : []),
    `  next: ${commandAfter(blocker, report)}`,
  ];
}

/** A line for each component; none while all are ready, or before the operator has reported them. */
function componentLines({ components, state }: StatusReport, { hasSteps = false }: Shown, view: View): string[] {
  const areReady = components.every(
    ({ readyReplicas = 0, replicas = 0, message = '' }) => readyReplicas === replicas && message === '',
  );
  if (components.length === 0 || (!hasSteps && (areReady || state.kind === 'hibernated'))) return [];
  const rows = components.map(({ name, readyReplicas = 0, replicas = 0, version = '-', message = '' }) => [
    name,
    view.paint(readyReplicas === replicas && message === '' ? 'ok' : 'waits', `${readyReplicas}/${replicas}`),
    version,
    message,
  ]);
  return table([['COMPONENT', 'READY', 'VERSION', 'WAITS FOR'], ...rows], view, 'prose');
}

/** A line for each step that is not as it should be, or for all; none of those that only wait for others. */
function stepLines({ steps, state }: StatusReport, { now, hasSteps = false }: Shown, view: View): string[] {
  const isQuiet = ['hibernated', 'unknown'].includes(state.kind);
  const shown = steps.filter(
    (step) => hasSteps || (!isQuiet && !['ok', 'off'].includes(step.state) && step.reason !== 'WaitingForOtherPhases'),
  );
  if (shown.length === 0) return [];
  const rows = shown.map(({ type, state: of, since, reason }) => [
    type,
    view.paint(of, of),
    spanSince(since, now),
    ['ok', 'off'].includes(of) ? '' : reason,
  ]);
  return table([['STEP', 'STATE', 'FOR', 'REASON'], ...rows], view);
}

/** A line for each kind of certificates, or only of those whose renewal is late. */
function certificateLines({ certificates }: StatusReport, { now, hasSteps = false }: Shown, view: View): string[] {
  const shown = certificates.filter(({ expiring = [] }) => hasSteps || expiring.length > 0);
  if (shown.length === 0) return [];
  const rows = shown.map(({ kind, notAfter, renewsAt, secret, expiring = [] }) => [
    kind,
    expiry(notAfter, now, view.paint),
    renewsAt === undefined ? 'by its user' : expiry(renewsAt, now, (_, text) => text.replace('expired', 'due')),
    secret,
    view.paint('fails', expiring.join(', ')),
  ]);
  return table([['CERTIFICATES', 'EXPIRE IN', 'RENEWED IN', 'FIRST OF THEM', 'RENEWAL IS LATE'], ...rows], view);
}

/** The messages of what does not work besides the blocker. */
function problemLines({ problems }: StatusReport, { paint, width }: View): string[] {
  return problems.flatMap(({ type, state, message }) => wrapped(`${paint(state, type)}: ${message}`, width, hanging));
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
export function commandAfter({ type }: Step, { namespace, cluster }: Overview): string {
  const what = shownBy[type];
  if (what === 'pods') return `kubectl -n ${namespace} get pods -l ${clusterNameLabel}=${cluster}`;
  return what === undefined
    ? `${nextCommand('status', cluster, namespace)} --steps`
    : nextCommand(what, cluster, namespace);
}
