import type { V1ContainerState, V1ContainerStatus, V1PodStatus } from '@kubernetes/client-node';
import { Event, Pod, type Resource } from '../../constructs/api/resources.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';

/** A Pod as the API returns it. */
export type PodInState = KubeObject & { readonly status?: Partial<V1PodStatus> };

/** The fields of an Event that describe a problem. */
export interface WarningEvent extends KubeObject {
  readonly type?: string;
  readonly reason?: string;
  readonly note?: string;
  readonly regarding?: { readonly kind?: string; readonly name?: string };
  readonly eventTime?: string | null;
  readonly deprecatedLastTimestamp?: string | null;
}

/** The last lines of a container's termination message give the reason. */
const maxLines = 5;
const maxCharacters = 300;

/** The end of a fatal line of etcd. It would hide the error, which comes before it. */
const stackTrace = /,"stacktrace":"(?:[^"\\]|\\.)*"?/g;

/** A namespace reports at most this many warnings. */
const maxWarnings = 60;

/** The newest reasons are reported, at most this many per object. */
const maxEvents = 3;

/**
 * The state of pods that are not ready, and warnings about them and about volume claims. Only events report volumes that
 * cannot be mounted: the container status only says ContainerCreating.
 */
export function podStates(pods: readonly PodInState[], events: readonly WarningEvent[] = []): string[] {
  const withProblem = pods.filter((pod) => !isReady(pod));
  const lines = withProblem.flatMap((pod) => [
    describePod(pod),
    ...containersOf(pod).map((container) => `  ${container}`),
    ...warningsOf(events, 'Pod', pod.metadata.name).map((warning) => `  ${warning}`),
  ]);
  const claims = new Set(events.flatMap(({ regarding }) => (isClaim(regarding) ? [regarding?.name ?? ''] : [])));
  const claimWarnings = [...claims].sort().flatMap((claim) => {
    const warnings = warningsOf(events, 'PersistentVolumeClaim', claim);
    return warnings.map((warning) => `PersistentVolumeClaim ${claim}: ${warning}`);
  });
  if (pods.length === 0) return ['there are no pods', ...claimWarnings];
  return withProblem.length > 0
    ? [...lines, ...claimWarnings]
    : [`all ${pods.length} pods are ready`, ...claimWarnings];
}

/** Runs work that waits for pods of a namespace, and adds their states to the error if it fails. */
export async function withPodStates<T>(client: KubeClient, namespace: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`${message}\n${await describePods(client, namespace)}`, { cause: error });
  }
}

/** {@link podStates} of a namespace for an error message: it never fails itself. */
export async function describePods(client: KubeClient, namespace: string): Promise<string> {
  const list = <T extends KubeObject>(resource: Resource) => client.list<T>(resource, { namespace });
  const lines = await Promise.all([list<PodInState>(Pod), list<WarningEvent>(Event)]).then(
    ([pods, events]) => podStates(pods.items, events.items),
    (error: unknown) => [`unknown: ${String(error)}`],
  );
  return [`pods of namespace ${namespace}:`, ...lines].join('\n  ');
}

/** The last warnings in a namespace, the newest last: after a failure, before its reason is lost with the namespace. */
export async function warningsIn(client: KubeClient, namespace: string): Promise<string[]> {
  const { items } = await client.list<WarningEvent>(Event, { namespace });
  return items
    .filter(({ type }) => type === 'Warning')
    .map(({ deprecatedLastTimestamp, eventTime, regarding, reason, note }) => {
      return `${deprecatedLastTimestamp ?? eventTime} ${regarding?.kind} ${regarding?.name} ${reason}: ${note}`;
    })
    .toSorted()
    .slice(-maxWarnings);
}

/** How a kubelet or a user ends a container, also on a busy machine: it obeys a signal, or is killed. */
const endedFromOutside = [0, 137, 143];

/** What a container says that could not renew its Lease, which takes a busy machine and no fault. */
const lostLease = /leader ?election lost/i;

/** The containers that have ended by themselves, and why. Those that a kubelet or a user has ended are not among them. */
export function crashesIn(pods: readonly PodInState[]): string[] {
  return pods.flatMap(({ metadata, status }) =>
    [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].flatMap(
      ({ name, lastState, restartCount }) => {
        const ended = lastState?.terminated;
        const isCrash = ended && !endedFromOutside.includes(ended.exitCode) && !lostLease.test(ended.message ?? '');
        return isCrash ? [`${metadata.name} ${name}, restarts: ${restartCount}, ${endOf(ended)}`] : [];
      },
    ),
  );
}

function isReady({ status }: PodInState): boolean {
  if (status?.phase === 'Succeeded') return true;
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;
}

function describePod({ metadata, status }: PodInState): string {
  const going = metadata.deletionTimestamp ? ', is being deleted' : '';
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  const place = scheduled?.status === 'False' ? `, ${reasonOf(scheduled)}` : '';
  const why = status?.reason || status?.message ? `, ${reasonOf(status)}` : '';
  return `Pod ${metadata.name}: ${status?.phase ?? 'without a status'}${going}${place}${why}`;
}

/** A line for each container that is not ready, without completed init containers. */
function containersOf({ status }: PodInState): string[] {
  const initial = (status?.initContainerStatuses ?? []).filter(({ state }) => state?.terminated?.exitCode !== 0);
  return [...initial, ...(status?.containerStatuses ?? [])].filter(({ ready }) => !ready).map(describeContainer);
}

function describeContainer({ name, state, lastState, restartCount }: V1ContainerStatus): string {
  const before = lastState?.terminated ? `; before it ${endOf(lastState.terminated)}` : '';
  const restarts = restartCount > 0 ? `, restarts: ${restartCount}` : '';
  return `${name}: ${stateOf(state)}${restarts}${before}`;
}

function stateOf(state: V1ContainerState | undefined): string {
  if (state?.running) return 'runs and is not ready';
  if (state?.terminated) return endOf(state.terminated);
  return `waits, ${reasonOf(state?.waiting ?? {})}`;
}

function endOf({ exitCode, message, ...ended }: NonNullable<V1ContainerState['terminated']>): string {
  const suffix = message ? `: ${bounded(message)}` : '';
  return `ended with ${exitCode}${ended.reason ? ` (${ended.reason})` : ''}${suffix}`;
}

/** Each warning once, however often it was repeated. */
function warningsOf(events: readonly WarningEvent[], kind: string, name: string): string[] {
  const about = events.filter(({ type, regarding }) => {
    return type === 'Warning' && regarding?.kind === kind && regarding.name === name;
  });
  const reasons = new Set(about.map(({ reason, note }) => reasonOf({ reason, message: note })));
  return [...reasons].slice(-maxEvents);
}

function isClaim(regarding: WarningEvent['regarding']): boolean {
  return regarding?.kind === 'PersistentVolumeClaim';
}

function reasonOf({
  reason,
  message,
}: {
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
}) {
  return [reason, message && bounded(message)].filter(Boolean).join(': ') || 'without a reason';
}

function bounded(text: string): string {
  const lines = text.replace(stackTrace, '').trim().split('\n').slice(-maxLines).join(' | ');
  return lines.length > maxCharacters ? `...${lines.slice(-maxCharacters)}` : lines;
}
