import { type ConditionType, usuallyFalse } from '../../../constructs/api/conditions.ts';
import { clusterNameLabel } from '../../../constructs/api/group.ts';
import type { Condition } from '../../../constructs/api/status.ts';
import { spanText } from '../format.ts';
import { table } from '../columns.ts';
import { clusterOf } from '../control-plane.ts';
import {
  blockerOf,
  conditionOf,
  type KnownCondition,
  nothingReported,
  stateOf,
  stepsOf,
  type StoredControlPlane,
} from '../control-plane-state.ts';
import { entryOf } from '../list/fleet-entry.ts';
import { plainView, type View } from '../view.ts';
import { hanging, wrapped } from '../wrapped.ts';

/** What a person reads: a summary, the one thing that blocks, and every step. */
export function describeStatus(object: StoredControlPlane, now: number, view: View = plainView): string[] {
  const { paint } = view;
  const blocker = blockerOf(object);
  const steps = stepsOf(object);
  return [
    ...facts(object, now, view),
    '',
    ...(blocker ? blockerLines(blocker, object, now, view) : [readiness(object, view)]),
    '',
    ...componentLines(object, view),
    ...table(
      [
        ['STEP', 'STATE', 'FOR', 'REASON'],
        ...steps.map((step) => {
          const state = stateOf(step);
          return [step.type, paint(state, state), ago(step, now), state === 'ok' ? '' : step.reason];
        }),
      ],
      view,
    ),
    ...apart(steps, blocker, view),
  ];
}

function ago({ lastTransitionTime }: Condition, now: number): string {
  return spanSince(lastTransitionTime, now);
}

function spanSince(time: string, now: number): string {
  return spanText(now - Date.parse(time));
}

/** As `kubectl explain` has it. */
function pathOf(field: string): string {
  return field === 'spec' ? field : `spec.${field}`;
}

/** The summary: a name and what is known of it in each line. */
function facts(object: StoredControlPlane, now: number, { width }: View): string[] {
  const { namespace, cluster, endpoint, apiServers, etcdMembers, version, wantedVersion } = entryOf(object);
  const known: (readonly [name: string, text: string])[] = [
    ['Cluster', `${namespace}/${cluster}`],
    ['Endpoint', endpoint ?? 'not known yet'],
    ['Version', version === wantedVersion ? (version ?? '-') : `${version ?? 'none'}, wanted ${wantedVersion ?? '-'}`],
    ['API servers', `${apiServers.ready} of ${apiServers.total} ready`],
    ['etcd', etcdMembers === null ? 'not known yet' : `${etcdMembers.voting} of ${etcdMembers.total} members vote`],
    ...(object.status?.held ?? []).map(
      ({ field, because, since }) => ['Held', `${pathOf(field)} for ${spanSince(since, now)}: ${because}`] as const,
    ),
    ...busyWith(object).map(
      (condition) => [condition.type, condition.message || `for ${ago(condition, now)}`] as const,
    ),
  ];
  const longest = Math.max(...known.map(([name]) => name.length));
  return known.flatMap(([name, text]) => wrapped(text, width, { first: `${name.padEnd(longest)}   ` }));
}

function readiness(object: StoredControlPlane, { paint }: View): string {
  return conditionOf(object, 'Ready') ? paint('ok', 'Ready') : paint('unknown', nothingReported);
}

/** What blocks, in its own words. The next command stays one line, because a person copies it. */
function blockerLines(blocker: KnownCondition, object: StoredControlPlane, now: number, view: View): string[] {
  const { paint, width } = view;
  const notReady = paint(stateOf(blocker), 'Not Ready');
  return [
    ...wrapped(`${notReady} for ${ago(blocker, now)}: ${blocker.type} is ${blocker.reason}`, width, hanging),
    ...(blocker.message === '' ? [] : wrapped(blocker.message, width, { first: '  ' })),
    `  next: ${nextCommand(blocker, object)}`,
  ];
}

/** A line for each component, and an empty one; none before the operator has reported them. */
function componentLines({ status }: StoredControlPlane, view: View): string[] {
  const components = status?.components ?? [];
  if (components.length === 0) return [];
  const rows = components.map(({ name, readyReplicas = 0, replicas = 0, version = '-', message = '' }) => [
    name,
    view.paint(readyReplicas === replicas && message === '' ? 'ok' : 'waits', `${readyReplicas}/${replicas}`),
    version,
    message,
  ]);
  return [...table([['COMPONENT', 'READY', 'VERSION', 'WAITS FOR'], ...rows], view, 'prose'), ''];
}

/** Summaries that are True while something goes on. */
function busyWith(object: StoredControlPlane): Condition[] {
  return usuallyFalse.flatMap((type) => {
    const condition = conditionOf(object, type);
    return condition?.status === 'True' ? [condition] : [];
  });
}

/** The messages of what fails besides the blocker. */
function apart(steps: readonly KnownCondition[], blocker: Condition | undefined, { paint, width }: View): string[] {
  const failing = steps.filter((step) => step.type !== blocker?.type && stateOf(step) === 'fails');
  const lines = failing.flatMap(({ type, message }) => wrapped(`${paint('fails', type)}: ${message}`, width, hanging));
  return lines.length === 0 ? [] : ['', ...lines];
}

/** The command that shows what a condition is about, where it is not the HostedControlPlane itself. */
const shownBy: Partial<Record<ConditionType, 'backups' | 'certificates' | 'pods'>> = {
  CACertificatesReady: 'certificates',
  EtcdCertificatesReady: 'certificates',
  CertificatesReady: 'certificates',
  EtcdClusterHealthy: 'backups',
  EtcdRestoreReady: 'backups',
  EtcdClusterReady: 'pods',
  APIServerDeploymentsReady: 'pods',
  ControllerManagerReady: 'pods',
  SchedulerReady: 'pods',
};

function nextCommand({ type }: KnownCondition, object: StoredControlPlane): string {
  const { namespace, name } = object.metadata;
  const cluster = clusterOf(object) ?? name;
  const what = shownBy[type];
  if (what === 'pods') return `kubectl -n ${namespace} get pods -l ${clusterNameLabel}=${cluster}`;
  return what === undefined ? `kubectl -n ${namespace} describe hcp ${name}` : `hcp ${what} ${cluster} -n ${namespace}`;
}
