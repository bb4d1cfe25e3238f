import { Deployment, PersistentVolumeClaim, Pod } from '../../constructs/api/resources.ts';
import { type ComponentName, selectorLabels } from '../../constructs/cluster/labels.ts';
import { wait, type Wait } from '../engine/outcome.ts';
import type { DeploymentObject, PodObject } from '../kube/readiness.ts';
import type { ControlPlaneContext } from '../management/view.ts';
import { type ClaimInTrouble, type PodTrouble, podTrouble, slowCreationMs } from './pod-trouble.ts';

type PodsContext = Pick<ControlPlaneContext, 'cluster' | 'reader' | 'now'>;

/** What the pods of a component say about why they do not work; undefined if they say nothing. */
export function troubleOf(component: ComponentName, { cluster, reader, now }: PodsContext): PodTrouble | undefined {
  const labels = selectorLabels(cluster.name, component);
  return podTrouble({
    pods: reader.list<PodObject>(Pod, labels),
    deployments: reader.list<DeploymentObject>(Deployment, labels),
    claims: reader.list<ClaimInTrouble>(PersistentVolumeClaim, labels),
    now,
  });
}

/** Waits for the pods of a component, and says why they do not work if they say so. */
export function waitForPods(component: ComponentName, message: string, context: PodsContext): Wait {
  const trouble = troubleOf(component, context);
  const told = trouble ? `${message}; ${trouble.message}` : message;
  // Nothing but time tells that containers are late.
  return wait(trouble?.reason ?? 'WaitingForPods', told, { afterMs: slowCreationMs });
}
