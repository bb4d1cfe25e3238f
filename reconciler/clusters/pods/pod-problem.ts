import type {
  ContainerStatus,
  DeploymentObject,
  PersistentVolumeClaimObject,
  PodObject,
  Probe,
  StatefulSetObject,
} from '../../../imports/kubernetes.ts';
import { truncated } from '../../kube/truncated.ts';
import { hasEnded, isReady } from '../../kube/readiness.ts';
import type { KubeObject } from '../../kube/object.ts';
import { terminationMessage, oneLine } from '../../kube/termination-message.ts';
import { awayOf, confirmedBy } from './lost-node.ts';
import type { Unexplained, Warning } from '../management/warnings.ts';

/** Why pods do not work. */
export interface PodProblem {
  /** `PodsFailing` when something went wrong, and `WaitingForPods` for what may only take its time. */
  readonly reason: 'PodsFailing' | 'WaitingForPods';
  readonly message: string;
}

/** What one component consists of, as the watches know it. */
export interface ObservedPods {
  readonly pods: readonly PodObject[];
  readonly deployments?: readonly DeploymentObject[];
  readonly sets?: readonly StatefulSetObject[];
  readonly claims?: readonly PersistentVolumeClaimObject[];
  /** What events say of the objects that are {@link unexplained}, the newest first. */
  readonly warnings?: readonly Warning[];
  readonly now: Date;
}

interface Problem {
  readonly of: string;
  readonly text: string;
  readonly isFailure: boolean;
}

const reportedProblems = 3;
const longestBytes = 1024;

/** Containers of a pod that is older than this are late: a volume or a network is missing. */
const slowCreationMs = 30_000;

/** A container that runs for longer than this and is not ready is late. */
const slowStartMs = 60_000;

/** A StatefulSet that is older than this has tried to create its pods. */
const slowSetMs = 10_000;

/** Time until a pod is late, which no watch reports; undefined if none can become late. */
export function untilLateMs({ pods, sets = [], now }: Pick<ObservedPods, 'pods' | 'sets' | 'now'>): number | undefined {
  const waits = [...pods.flatMap(lateAt), ...sets.filter(lacksPods).map(lacksSince)]
    .map((time) => time - now.getTime())
    .filter((ms) => ms > 0);
  return waits.length > 0 ? Math.min(...waits) : undefined;
}

/** The objects that do not say themselves why something does not work, and of which events may. */
export function unexplained({ pods, sets = [], now }: ObservedPods): Unexplained[] {
  const awaited = pods.filter(isAwaited).flatMap((pod) => {
    const { uid = '' } = pod.metadata;
    if (failuresOf(pod, now).length > 0) return [];
    if (silentContainers(pod, now).length > 0) return [{ uid, reason: 'Unhealthy' }];
    return isCreatedLate(pod, now) ? [{ uid }] : [];
  });
  const lacking = sets.filter((set) => lacksPods(set) && lacksSince(set) <= now.getTime());
  return [...lacking.map(({ metadata: { uid = '' } }) => ({ uid, reason: 'FailedCreate' })), ...awaited];
}

/** Whether its controller has not created all pods, or has deleted one and not created the next. */
export function lacksPods({ metadata, spec, status = {} }: StatefulSetObject): boolean {
  const { observedGeneration = 0, replicas = 0 } = status;
  return (
    !metadata.deletionTimestamp && observedGeneration >= (metadata.generation ?? 0) && replicas < (spec?.replicas ?? 1)
  );
}

function lacksSince({ metadata }: StatefulSetObject): number {
  return Date.parse(metadata.creationTimestamp ?? '') + slowSetMs;
}

function lateAt(pod: PodObject): number[] {
  const going = confirmedBy(pod);
  if (going) return [going.getTime()];
  if (!isAwaited(pod)) return [];
  const containers = containersOf(pod);
  if (!containers.some(hasRun)) return [Date.parse(pod.metadata.creationTimestamp ?? '') + slowCreationMs];
  return containers
    .filter(({ ready }) => !ready)
    .map(({ state }) => Date.parse(state?.running?.startedAt ?? '') + slowStartMs);
}

/** Whether it is to become ready: it neither has ended nor goes. */
export function isAwaited(pod: PodObject): boolean {
  return !pod.metadata.deletionTimestamp && !hasEnded(pod) && !isReady(pod);
}

function containersOf({ status }: PodObject): readonly ContainerStatus[] {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
}

/**
 * What the status of pods, of their Deployment and of their claims says about why the pods do not work: containers that
 * crash, images that cannot be pulled, refusals of the scheduler and of admission, volumes. Undefined when it says nothing.
 */
export function findPodProblem(observed: ObservedPods): PodProblem | undefined {
  const { pods, deployments = [], sets = [], claims = [], warnings = [], now } = observed;
  const awaited = pods.filter(isAwaited);
  const all = [
    ...deployments.flatMap(problemsOfDeployment),
    ...sets.flatMap((set) => problemOfSet(set, warnings)),
    ...pods.flatMap((pod) => problemOfNode(pod, now)),
    ...awaited.flatMap((pod) => problemsOfPod(pod, { warnings, now })),
    ...claims.flatMap(problemsOfClaim),
  ];
  const failures = all.filter(({ isFailure }) => isFailure);
  const reported = failures.length > 0 ? failures : all;
  if (reported.length === 0) return undefined;
  const texts = [...Map.groupBy(reported, ({ text }) => text)].map(([text, [first, ...others]]) => {
    const more = others.length > 0 ? ` and ${others.length} more` : '';
    return `${first?.of ?? ''}${more}: ${text}`;
  });
  const more = texts.length > reportedProblems ? [`and ${texts.length - reportedProblems} more problems`] : [];
  const message = truncated([...texts.slice(0, reportedProblems), ...more].join('; '), longestBytes);
  return { reason: failures.length > 0 ? 'PodsFailing' : 'WaitingForPods', message };
}

/** Pods that were refused, for example by a quota or by PodSecurity. */
function problemsOfDeployment(deployment: DeploymentObject): Problem[] {
  return replicaFailures(deployment).map(({ message = '' }) => ({
    of: `Deployment ${deployment.metadata.name}`,
    text: oneLine(message),
    isFailure: true,
  }));
}

/** Its conditions that say that pods were refused. */
export function replicaFailures({ status }: DeploymentObject) {
  const conditions = status?.conditions ?? [];
  return conditions.filter(({ type, status: value }) => type === 'ReplicaFailure' && value === 'True');
}

/** The same of a StatefulSet, which has no condition for it. */
function problemOfSet(set: StatefulSetObject, warnings: readonly Warning[]): Problem[] {
  const words = lacksPods(set) ? wordsOf(set, warnings) : undefined;
  return words === undefined ? [] : [{ of: `StatefulSet ${set.metadata.name}`, text: words, isFailure: true }];
}

function wordsOf({ metadata }: KubeObject, warnings: readonly Warning[], name?: string): string | undefined {
  return warnings.find(({ uid, container }) => uid === metadata.uid && container === name)?.words;
}

function problemOfNode(pod: PodObject, now: Date): Problem[] {
  const text = awayOf(pod, now);
  return text === undefined ? [] : [{ of: `pod ${pod.metadata.name}`, text, isFailure: true }];
}

/** Containers that run, and whose probe fails. The kubelet reports the answer in events only. */
function silentContainers({ spec, status }: PodObject, now: Date): { readonly name: string; readonly text: string }[] {
  return (status?.containerStatuses ?? []).flatMap(({ name = '', ready, started, state }) => {
    const runsMs = now.getTime() - Date.parse(state?.running?.startedAt ?? '');
    if (ready || !(runsMs >= slowStartMs)) return [];
    const { readinessProbe, startupProbe } = spec?.containers?.find((container) => container.name === name) ?? {};
    const [kind, probe] =
      started === false ? (['startup', startupProbe] as const) : (['readiness', readinessProbe] as const);
    return [{ name, text: `container ${name} runs, and its ${kind} probe${asked(probe)} fails` }];
  });
}

function asked({ httpGet, tcpSocket, grpc }: Probe = {}): string {
  if (httpGet) return ` GET ${httpGet.path ?? '/'} at port ${httpGet.port}`;
  const port = tcpSocket?.port ?? grpc?.port;
  return port === undefined ? '' : ` at port ${port}`;
}

function problemsOfPod(pod: PodObject, { warnings, now }: { warnings: readonly Warning[]; now: Date }): Problem[] {
  const of = `pod ${pod.metadata.name}`;
  const failures = failuresOf(pod, now);
  if (failures.length > 0) return failures.map((text) => ({ of, text, isFailure: true }));
  const silent = silentContainers(pod, now).map(({ name, text }): Problem => {
    const answer = wordsOf(pod, warnings, name) ?? 'the events of the pod have the answer';
    return { of, text: `${text}: ${answer}`, isFailure: false };
  });
  if (silent.length > 0 || !isCreatedLate(pod, now)) return silent;
  // The kubelet reports volumes that cannot be mounted in events only.
  const cause = wordsOf(pod, warnings) ?? 'the events of the pod name the volume or network that is missing';
  return [{ of, text: `its containers are not created: ${cause}`, isFailure: false }];
}

/** What its status says itself. */
function failuresOf(pod: PodObject, now: Date): string[] {
  const refusal = pod.status?.conditions?.find(
    ({ type, status: value }) => type === 'PodScheduled' && value === 'False',
  );
  if (refusal && isVolumeBeingMade(refusal.message, pod, now)) return [];
  if (refusal) return [`cannot be scheduled: ${oneLine(refusal.message ?? refusal.reason ?? 'no reason given')}`];
  const failures = containersOf(pod).flatMap((container) => failureOf(container, now) ?? []);
  const last = failures.findLastIndex((failure) => /: (ErrImage|ImagePull)/.test(failure));
  return failures.map((failure, index) =>
    index === last ? `${failure}; check the tag, imageRegistry and imagePullSecrets` : failure,
  );
}

/** Every first pod with a volume is refused until the volume is made, which takes seconds. */
function isVolumeBeingMade(message: string | undefined, pod: PodObject, now: Date): boolean {
  const isYoung = now.getTime() - Date.parse(pod.metadata.creationTimestamp ?? '') < slowCreationMs;
  return isYoung && (message ?? '').includes('unbound immediate PersistentVolumeClaims');
}

function isCreatedLate(pod: PodObject, now: Date): boolean {
  const containers = containersOf(pod);
  if (containers.length === 0 || containers.some(hasRun)) return false;
  return now.getTime() - Date.parse(pod.metadata.creationTimestamp ?? '') >= slowCreationMs;
}

/** States of a container that is being created, and the one that only says that it waits after a crash. */
const waitingAsUsual = ['ContainerCreating', 'PodInitializing', 'CrashLoopBackOff'];

/** A container that has run for longer than any back-off of the kubelet is not in a crash loop. */
const crashLoopMs = 10 * 60_000;

function failureOf({ name, ready, state, lastState }: ContainerStatus, now: Date): string | undefined {
  if (ready) return undefined;
  const { waiting } = state ?? {};
  if (waiting?.reason && !waitingAsUsual.includes(waiting.reason)) {
    const message = waiting.message ? `: ${oneLine(waiting.message)}` : '';
    return `container ${name}: ${waiting.reason}${message}`;
  }
  const runsSinceMs = now.getTime() - Date.parse(state?.running?.startedAt ?? '');
  const ended = state?.terminated ?? (runsSinceMs > crashLoopMs ? undefined : lastState?.terminated);
  if (ended === undefined || ended.exitCode === 0) return undefined;
  const reason = ended.reason && ended.reason !== 'Error' ? ` (${ended.reason})` : '';
  const words = terminationMessage(ended.message ?? '');
  return `container ${name} ended with exit code ${ended.exitCode}${reason}${words ? `: ${words}` : ''}`;
}

function hasRun({ state, lastState }: ContainerStatus): boolean {
  return [state?.running, state?.terminated, lastState?.terminated].some((run) => run !== undefined);
}

/** Conditions of a claim that report an error: `ControllerResizeError`, `NodeResizeError`, `ModifyVolumeError`. */
function problemsOfClaim({ metadata, status }: PersistentVolumeClaimObject): Problem[] {
  const of = `volume claim ${metadata.name}`;
  const lost = status?.phase === 'Lost' ? [{ of, text: 'its volume no longer exists', isFailure: true }] : [];
  const errors = (status?.conditions ?? []).filter(
    ({ type, status: value }) => type?.endsWith('Error') && value === 'True',
  );
  return [
    ...lost,
    ...errors.map(({ type, message }) => ({ of, text: oneLine(message || (type ?? '')), isFailure: true })),
  ];
}
