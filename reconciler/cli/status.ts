import { isDeepStrictEqual } from 'node:util';
import type { ConditionType } from '../../constructs/api/conditions.ts';
import { clusterNameLabel } from '../../constructs/api/group.ts';
import type { Condition } from '../../constructs/api/status.ts';
import { spanText } from './amounts.ts';
import { columns } from './columns.ts';
import { clusterArgument, type Command, hasSwitch, type Session } from './command.ts';
import { clusterOf, findObject } from './control-plane.ts';
import {
  blockerOf,
  conditionOf,
  type KnownCondition,
  nothingReported,
  stateOf,
  stepsOf,
  type StoredControlPlane,
} from './control-plane-state.ts';
import { changesOf } from './follow.ts';
import { entryOf } from './list.ts';

/** Shows what a control plane waits for, in its own words, and what a person does next. */
export const status: Command = {
  name: 'status',
  usage: 'CLUSTER [--watch]',
  summary: 'Shows the steps of a control plane and the one that blocks it; exit code 1 when it is not available.',
  options: {
    watch: { type: 'boolean', short: 'w', meaning: 'show it again after each change, until you interrupt it' },
  },
  prepare(given) {
    const name = clusterArgument(given);
    return (session) => (hasSwitch(given, 'watch') ? watch(session, name) : show(session, name));
  },
};

async function show(session: Session, name: string): Promise<void> {
  const object: StoredControlPlane = await findObject(session, name);
  for (const line of describeStatus(object, session.now())) session.terminal.print(line);
  if (conditionOf(object, 'Available')?.status !== 'True')
    throw new Error(`the API server of ${name} is not available`);
}

async function watch(session: Session, name: string): Promise<void> {
  const { metadata } = await findObject(session, name);
  let shown: unknown;
  for await (const object of changesOf<StoredControlPlane>(session, metadata.name)) {
    if (!object) throw new Error(`the control plane of ${name} was deleted`);
    // not what is printed, because ages change all the time
    if (isDeepStrictEqual(object.status, shown)) continue;
    if (shown !== undefined) session.terminal.print('');
    shown = object.status;
    for (const line of describeStatus(object, session.now())) session.terminal.print(line);
  }
}

/** What a person reads: a summary, the one thing that blocks, and every step. */
export function describeStatus(object: StoredControlPlane, now: number): string[] {
  const { metadata, spec } = object;
  const cluster = clusterOf(object) ?? metadata.name;
  const { host, port } = spec?.controlPlaneEndpoint ?? {};
  const { apiServers, etcdMembers, version, wantedVersion } = entryOf(object);
  const blocker = blockerOf(object);
  const steps = stepsOf(object);
  const ago = ({ lastTransitionTime }: Condition) => spanText(now - Date.parse(lastTransitionTime));
  const facts = [
    ['Cluster', `${metadata.namespace}/${cluster}`],
    ['Endpoint', host === undefined ? 'not known yet' : `${host}:${port}`],
    ['Version', version === wantedVersion ? (version ?? '-') : `${version ?? 'none'}, wanted ${wantedVersion ?? '-'}`],
    ['API servers', `${apiServers.ready} of ${apiServers.total} ready`],
    ['etcd', etcdMembers === null ? 'not known yet' : `${etcdMembers.voting} of ${etcdMembers.total} members vote`],
    ...busyWith(object).map((condition) => [condition.type, condition.message || `for ${ago(condition)}`]),
  ];
  return [
    ...columns(facts),
    '',
    ...(blocker
      ? [
          `Not Ready for ${ago(blocker)}: ${blocker.type} is ${blocker.reason}`,
          ...(blocker.message === '' ? [] : [`  ${blocker.message}`]),
          `  next: ${nextCommand(blocker, object, cluster)}`,
        ]
      : [conditionOf(object, 'Ready') ? 'Ready' : nothingReported]),
    '',
    ...componentLines(object),
    ...columns([
      ['STEP', 'STATE', 'FOR', 'REASON'],
      ...steps.map((step) => [step.type, stateOf(step), ago(step), stateOf(step) === 'ok' ? '' : step.reason]),
    ]),
    ...apart(steps, blocker),
  ];
}

/** A line for each component, and an empty one; none before the operator has reported them. */
function componentLines({ status }: StoredControlPlane): string[] {
  const components = status?.components ?? [];
  if (components.length === 0) return [];
  const rows = components.map(({ name, readyReplicas = 0, replicas = 0, version = '-', message = '' }) => [
    name,
    `${readyReplicas}/${replicas}`,
    version,
    message,
  ]);
  return [...columns([['COMPONENT', 'READY', 'VERSION', 'WAITS FOR'], ...rows]), ''];
}

const busy: readonly ConditionType[] = ['Paused', 'Deleting', 'RollingOut', 'ScalingUp', 'ScalingDown'];

/** Summaries that are True while something goes on. */
function busyWith(object: StoredControlPlane): Condition[] {
  return busy.flatMap((type) => {
    const condition = conditionOf(object, type);
    return condition?.status === 'True' ? [condition] : [];
  });
}

/** The messages of what fails besides the blocker. */
function apart(steps: ReturnType<typeof stepsOf>, blocker: Condition | undefined): string[] {
  const failing = steps.filter((step) => step.type !== blocker?.type && stateOf(step) === 'fails');
  return failing.length === 0 ? [] : ['', ...failing.map(({ type, message }) => `${type}: ${message}`)];
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

function nextCommand({ type }: KnownCondition, { metadata }: StoredControlPlane, cluster: string): string {
  const { namespace, name } = metadata;
  const what = shownBy[type];
  if (what === 'pods') return `kubectl -n ${namespace} get pods -l ${clusterNameLabel}=${cluster}`;
  return what === undefined ? `kubectl -n ${namespace} describe hcp ${name}` : `hcp ${what} ${cluster} -n ${namespace}`;
}
