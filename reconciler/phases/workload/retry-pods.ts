import type { ConditionType } from '../../../constructs/api/conditions.ts';
import { fieldManager } from '../../../constructs/api/group.ts';
import { DaemonSet } from '../../../constructs/api/resources.ts';
import type { RenderedObject } from '../../../constructs/control-plane/chart.ts';
import type { Workload } from '../../../constructs/pod/workload-pod.ts';
import { renderWorkload, type WorkloadPart } from '../../../constructs/workload/chart.ts';
import { tryStep } from '../../clusters/dry-run/try-step.ts';
import type { HostedClient } from '../../clusters/hosted/hosted-client.ts';
import type { KubeObject } from '../../kube/object.ts';
import { refusalKeptMs } from '../../clusters/management/view.ts';
import { type PodsApi, refusedWorkloads, retryRefused } from '../../clusters/pods/retry-refused.ts';
import type { WorkloadScope } from './part.ts';

/** A DaemonSet has no condition that says whether its pods are refused. Its controller has created them by then. */
const slowMs = 10_000;

interface Live {
  readonly deployments: readonly KubeObject[];
  /** Workloads without a pod that works. */
  readonly idle: readonly KubeObject[];
}

/**
 * Lets pods of an add-on that were refused be created once the hosted API server accepts them.
 * @returns after how many milliseconds to ask again, which no event reports; undefined if none seem to be refused
 */
export async function retryPods(
  { part, condition }: { readonly part: WorkloadPart; readonly condition: ConditionType },
  { deployments, idle }: Live,
  scope: WorkloadScope,
): Promise<number | undefined> {
  const { facts, hostedControlPlane, podsProbe, now } = scope;
  const daemonSets = idle.filter(({ kind }) => kind === DaemonSet.kind);
  const reported = hostedControlPlane.status?.conditions?.find(({ type }) => type === condition);
  const isLate = reported?.status === 'False' && now.getTime() - Date.parse(reported.lastTransitionTime) >= slowMs;
  const refused = refusedWorkloads({ deployments, daemonSets: isLate ? daemonSets : [] });
  if (refused.length > 0) {
    const rendered = renderWorkload(scope.cluster, facts, part);
    const templated = refused.map(({ workload, refusal }) => ({ workload: withTemplate(workload, rendered), refusal }));
    await retryRefused(templated, { probe: podsProbe(part), api: podsApiOf(scope.hosted(facts)), now });
    return refusalKeptMs;
  }
  return daemonSets.length > 0 && !isLate ? slowMs : undefined;
}

/** Of what an API server answers the operator keeps no template. */
function withTemplate(workload: KubeObject, rendered: readonly RenderedObject[]): Workload & KubeObject {
  const { kind, metadata } = workload;
  const found: Workload | undefined = rendered.find(
    (object) => object.kind === kind && object.metadata.name === metadata.name,
  );
  return found?.spec ? { ...workload, spec: found.spec } : workload;
}

/** The operator itself may not create pods there. */
function podsApiOf(hosted: Pick<HostedClient, 'asAdministrator'>): PodsApi {
  return {
    refusal: (pod) =>
      hosted.asAdministrator((client) =>
        tryStep(client, pod.metadata.namespace ?? '', { step: 'pods', creates: [pod], changes: [], ends: [] }),
      ),
    annotate: (resource, { metadata: { namespace, name, uid } }, annotations) =>
      hosted.asAdministrator((client) =>
        client.mergePatch(resource, { namespace, name }, { metadata: { uid, annotations } }, { fieldManager }),
      ),
  };
}
