import type {
  DeploymentObject,
  PersistentVolumeClaimObject,
  PodObject,
  StatefulSetObject,
} from '../../../imports/kubernetes.ts';
import { Deployment, PersistentVolumeClaim, Pod, StatefulSet } from '../../../constructs/api/resources.ts';
import { type ComponentName, selectorLabels } from '../../../constructs/cluster/labels.ts';
import { wait, type Wait } from '../../engine/outcome.ts';
import { refusalKeptMs, type ControlPlaneContext } from '../management/view.ts';
import type { EndpointProbe } from '../exposure/endpoint-probes.ts';
import { type PodsApi, refusedWorkloads, retryRefused } from './retry-refused.ts';
import { unstableOf } from './unstable.ts';
import { type PodProblem, findPodProblem, unexplained, untilLateMs } from './pod-problem.ts';

type PodsContext = Pick<ControlPlaneContext, 'cluster' | 'reader' | 'now'>;

interface AskingContext extends PodsContext, Pick<ControlPlaneContext, 'writer'> {
  readonly podsProbe: (of: string) => EndpointProbe;
}

/** What the pods of a component say about why they do not work. */
interface Told {
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

export async function podProblemOf(component: ComponentName, context: AskingContext): Promise<Told> {
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
  const told = podProblem ? `${message}; ${podProblem.message}` : message;
  return wait(podProblem?.reason ?? 'WaitingForPods', told, { afterMs, isStuck });
}
