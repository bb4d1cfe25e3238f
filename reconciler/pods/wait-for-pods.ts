import { Deployment, PersistentVolumeClaim, Pod } from '../../constructs/api/resources.ts';
import { type ComponentName, selectorLabels } from '../../constructs/cluster/labels.ts';
import { wait, type Wait } from '../engine/outcome.ts';
import type { DeploymentObject, PodObject } from '../kube/readiness.ts';
import type { ControlPlaneContext } from '../management/view.ts';
import { unstableOf } from './unstable.ts';
import { type ClaimInTrouble, type PodTrouble, podTrouble, untilLateMs } from './pod-trouble.ts';

type PodsContext = Pick<ControlPlaneContext, 'cluster' | 'reader' | 'now'>;

/** What the pods of a component say about why they do not work. */
interface Told {
  /** Undefined if they say nothing. */
  readonly trouble: PodTrouble | undefined;
  /** When to ask again although no event triggers a reconcile; undefined if events report everything. */
  readonly afterMs: number | undefined;
}

export function troubleOf(component: ComponentName, { cluster, reader, now }: PodsContext): Told {
  const labels = selectorLabels(cluster.name, component);
  const pods = reader.list<PodObject>(Pod, labels);
  const deployments = reader.list<DeploymentObject>(Deployment, labels);
  const claims = reader.list<ClaimInTrouble>(PersistentVolumeClaim, labels);
  return { trouble: podTrouble({ pods, deployments, claims, now }), afterMs: untilLateMs({ pods, now }) };
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
export function waitForPods(
  component: ComponentName,
  { message, isStuck }: Pick<Wait, 'message' | 'isStuck'>,
  context: PodsContext,
): Wait {
  const { trouble, afterMs } = troubleOf(component, context);
  const told = trouble ? `${message}; ${trouble.message}` : message;
  return wait(trouble?.reason ?? 'WaitingForPods', told, { afterMs, isStuck });
}
