import type {
  DeploymentObject,
  PersistentVolumeClaimObject,
  PodObject,
  StatefulSetObject,
  ContainerStatus,
} from '../../../imports/kubernetes.ts';
import { Deployment, PersistentVolumeClaim, Pod, StatefulSet } from '../../../constructs/api/resources.ts';
import { type ComponentName, selectorLabels } from '../../../constructs/cluster/labels.ts';
import { wait, type Wait } from '../../engine/outcome.ts';
import { refusalKeptMs, type ControlPlaneContext } from '../management/view.ts';
import type { EndpointProbe } from '../exposure/endpoint-probes.ts';
import { type PodsApi, refusedWorkloads, retryRefused } from './retry-refused.ts';
import { type PodProblem, findPodProblem, unexplained, untilLateMs } from './pod-problem.ts';
import { hasEnded } from '../../kube/readiness.ts';
import { terminationMessage } from '../../kube/termination-message.ts';

type PodsContext = Pick<ControlPlaneContext, 'cluster' | 'reader' | 'now'>;

interface AskingContext extends PodsContext, Pick<ControlPlaneContext, 'writer'> {
  readonly podsProbe: (of: string) => EndpointProbe;
}

/** What the pods of a component say about why they do not work. */
interface ObservedProblem {
  /** Undefined if they say nothing. */
  readonly podProblem: PodProblem | undefined;
  /** When to ask again although no event triggers a reconcile; undefined if events report everything. */
  readonly afterMs: number | undefined;
}

function observePods(component: ComponentName, { cluster, reader, now }: PodsContext) {
  const labels = selectorLabels(cluster.name, component);
  return {
    pods: reader.list<PodObject>(Pod, labels),
    deployments: reader.list<DeploymentObject>(Deployment, labels),
    claims: reader.list<PersistentVolumeClaimObject>(PersistentVolumeClaim, labels),
    sets: reader.list<StatefulSetObject>(StatefulSet, labels),
    now,
  };
}

/** What the pods of a component say themselves, for a phase that waits for something else. */
export function podProblemMeanwhile(component: ComponentName, context: PodsContext): string | undefined {
  return findPodProblem(observePods(component, context))?.message;
}

export async function podProblemOf(component: ComponentName, context: AskingContext): Promise<ObservedProblem> {
  const { writer, podsProbe, now } = context;
  const observed = observePods(component, context);
  const { deployments, sets } = observed;
  const objects = unexplained(observed);
  const warnings = objects.length > 0 ? await writer.warnings(component, objects, now) : [];
  const refused = refusedWorkloads({ deployments, sets, warnings });
  const api: PodsApi = {
    refusal: (pod) => writer.dryRun({ step: 'pods', creates: [pod], changes: [], ends: [] }),
    annotate: (resource, workload, annotations) => writer.annotate(resource, workload, annotations),
  };
  await retryRefused(refused, { probe: podsProbe(component), api, now });
  // Nothing reports an event, or that a cause has gone.
  const next = [untilLateMs(observed) ?? Infinity, objects.length + refused.length > 0 ? refusalKeptMs : Infinity];
  const afterMs = Math.min(...next);
  return {
    podProblem: findPodProblem({ ...observed, warnings }),
    afterMs: Number.isFinite(afterMs) ? afterMs : undefined,
  };
}

/** Why pods of a component are not believed although they are ready, and when to look again; undefined if they are. */
export function unstablePods(
  component: ComponentName,
  { cluster, reader, now }: PodsContext,
): { readonly message: string; readonly afterMs: number } | undefined {
  const unstable = unstableOf(reader.list<PodObject>(Pod, selectorLabels(cluster.name, component)), now);
  return unstable && { message: unstable.message, afterMs: unstable.until.getTime() - now.getTime() };
}

/** Waits for the pods of a component, and says why they do not work if they say so. */
export async function waitForPods(
  component: ComponentName,
  { message, isStuck }: Pick<Wait, 'message' | 'isStuck'>,
  context: AskingContext,
): Promise<Wait> {
  const { podProblem, afterMs } = await podProblemOf(component, context);
  const detailed = podProblem ? `${message}; ${podProblem.message}` : message;
  return wait(podProblem?.reason ?? 'WaitingForPods', detailed, { afterMs, isStuck });
}

/** So many ends of a container, the last ones soon after each other, are no accident. */
const fewestEnds = 3;
/** A container that has run for longer than any back-off of the kubelet is not in a crash loop. */
const longestMs = 10 * 60_000;
const shortestMs = 60_000;

/** Containers that may be ready now, and end again and again. */
interface Unstable {
  readonly message: string;
  /** When the first of them will have run for long enough to be believed. */
  readonly until: Date;
}

/**
 * Containers that have ended several times, and have not run for twice as long as the last time yet: what is ready for ten seconds
 * and exits, again and again, is not ready.
 */
export function unstableOf(pods: readonly PodObject[], now: Date): Unstable | undefined {
  const found = pods
    .filter((pod) => !hasEnded(pod) && !pod.metadata.deletionTimestamp)
    .flatMap((pod) => (pod.status?.containerStatuses ?? []).map((container) => ({ pod, container })))
    .flatMap(({ pod, container }) => {
      const until = believedFrom(container);
      return until !== undefined && until > now ? [{ until, text: describe(pod, container) }] : [];
    });
  if (found.length === 0) return undefined;
  const until = new Date(Math.min(...found.map((one) => one.until.getTime())));
  return { message: found.map(({ text }) => text).join('; '), until };
}

/** When this run will have lasted for long enough; undefined for a container that is not suspected. */
function believedFrom({ restartCount = 0, state, lastState }: ContainerStatus): Date | undefined {
  const { startedAt = '', finishedAt = '' } = lastState?.terminated ?? {};
  const lastedMs = Date.parse(finishedAt) - Date.parse(startedAt);
  const since = Date.parse(state?.running?.startedAt ?? '');
  if (restartCount < fewestEnds || Number.isNaN(since) || !(lastedMs < longestMs)) return undefined;
  return new Date(since + Math.min(longestMs, Math.max(shortestMs, 2 * lastedMs)));
}

function describe({ metadata }: PodObject, { name, restartCount, lastState }: ContainerStatus): string {
  const { exitCode, message = '' } = lastState?.terminated ?? {};
  const words = terminationMessage(message);
  return `pod ${metadata.name}: container ${name} has ended ${restartCount} times, the last time with exit code ${exitCode}${words ? `: ${words}` : ''}`;
}
