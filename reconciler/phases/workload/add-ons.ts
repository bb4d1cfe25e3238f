import type { ConditionType } from '../../../constructs/api/conditions.ts';
import { DaemonSet, Deployment, Pod } from '../../../constructs/api/resources.ts';
import { unsupportedInClusterAccess } from '../../../constructs/cluster/in-cluster-access.ts';
import { type WorkloadPart, renderWorkload } from '../../../constructs/workload/chart.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isReady, somePodAvailable } from '../../kube/readiness.ts';
import {
  InvalidConfiguration,
  type Outcome,
  degraded,
  done,
  notObserved,
  notRequested,
  wait,
} from '../../engine/outcome.ts';
import { findPodProblem } from '../../clusters/pods/pod-problem.ts';
import { workloadPart, type WorkloadScope } from './part.ts';
import { workloadRBAC } from './rbac.ts';
import { serviceProblem } from './service-access.ts';
import type { PodObject } from '../../../imports/kubernetes.ts';
import { formatEndpoint } from '../../../constructs/cluster/facts.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import { rendersWith } from '../../../constructs/cluster/release-revisions.ts';
import { messageOf } from '../../kube/error-message.ts';
import { askPods } from '../../clusters/pods/ask-pods.ts';
import { fieldManager } from '../../../constructs/api/group.ts';
import type { RenderedObject } from '../../../constructs/control-plane/chart.ts';
import type { Workload } from '../../../constructs/pod/workload-pod.ts';
import { tryStep } from '../../clusters/dry-run/try-step.ts';
import type { HostedClient } from '../../clusters/hosted/hosted-client.ts';
import { refusalKeptMs } from '../../clusters/management/view.ts';
import { type PodsApi, refusedWorkloads, retryRefused } from '../../clusters/pods/retry-refused.ts';

/**
 * The add-ons on the nodes of the hosted cluster. They do not wait for each other, and no other phase waits for them.
 */
export const kubeProxy = addOn('kube-proxy', 'WorkloadKubeProxyReady', {
  isDisabled: ({ spec }) => spec.kubeProxy.disabled,
});
export const coreDNS = addOn('coredns', 'WorkloadCoreDNSReady', {
  isDisabled: ({ spec }) => spec.coredns.disabled,
});
export const konnectivityAgent = addOn('konnectivity-agent', 'WorkloadKonnectivityReady', {
  isDisabled: ({ spec }) => spec.konnectivityClient.disabled,
  whenAvailable: agentsProblem,
});
export const inClusterAccess = addOn('in-cluster-access', 'WorkloadInClusterAccessReady', { check: refuseUnsupported });
/** Proxies in a namespace of users, who may refuse pods there. */
export const serviceAccess = addOn('service-access', 'WorkloadKubernetesServiceReady', {
  check: refuseUnsupported,
  problemOf: serviceProblem,
});

export const addOns = [kubeProxy, coreDNS, konnectivityAgent, inClusterAccess, serviceAccess] as const;

type Judge = (live: readonly KubeObject[], scope: WorkloadScope) => Promise<Outcome | undefined>;

interface AddOnOptions {
  readonly isDisabled?: (cluster: WorkloadScope['cluster']) => boolean;
  readonly check?: (scope: WorkloadScope) => void;
  /** What is wrong whether or not its pods run. */
  readonly problemOf?: Judge;
  /** What is wrong although its pods run. */
  readonly whenAvailable?: Judge;
}

function addOn(
  part: WorkloadPart,
  condition: ConditionType,
  { isDisabled, check, problemOf, whenAvailable }: AddOnOptions = {},
) {
  return workloadPart({
    condition,
    needs: [workloadRBAC],
    part,
    before(scope) {
      check?.(scope);
      return nodesAreKnown(scope);
    },
    async judge(live, scope) {
      if (isDisabled?.(scope.cluster)) return notRequested();
      const problem = await problemOf?.(live, scope);
      if (problem) return problem;
      // Without nodes no pod can run, and none is missing.
      if (scope.facts.nodes === 0) return done();
      const deployments = live.filter(({ kind }) => kind === Deployment.kind);
      const refused = findPodProblem({ pods: [], deployments, now: scope.now });
      const idle = live.filter((object) => !somePodAvailable(object).ready);
      const afterMs = await retryPods({ part, condition }, { deployments, idle }, scope);
      if (refused) return wait(refused.reason, refused.message, { afterMs });
      const problems = idle.map(somePodAvailable).flatMap((readiness) => (readiness.ready ? [] : [readiness.message]));
      if (problems.length > 0) return wait('WaitingForPods', problems.join('; '), { afterMs });
      return (live.length > 0 ? await whenAvailable?.(live, scope) : undefined) ?? done();
    },
  });
}

/** The number of nodes determines the replicas. A guess at every start of the operator would scale them up and down. */
function nodesAreKnown({ facts }: WorkloadScope): Outcome {
  return facts.nodes === undefined
    ? notObserved('the operator has not listed the Nodes of the hosted cluster yet')
    : done();
}

/** The phase then changes nothing, because pods may reach their API server through the existing objects. */
function refuseUnsupported({ cluster, facts }: WorkloadScope): void {
  const problem = unsupportedInClusterAccess(cluster, facts);
  if (problem) throw new InvalidConfiguration('InClusterAccessNotSupported', problem);
}

/** Agents connect to an API server within seconds after they or it have started. */
const patienceMs = 30_000;

/**
 * Which API servers have no agent although agents run. An agent is ready once it has reached one API server. It reaches the others by
 * new connections to the same address, which a balancer that is sticky by the client's address always leads to the same one.
 */
async function agentsProblem(
  live: readonly KubeObject[],
  scope: WorkloadScope & { readonly facts: { readonly konnectivityEndpoint?: unknown } },
): Promise<Outcome | undefined> {
  const { cluster, facts, reader, agentsProbe, hasAgent, now } = scope;
  const pods = reader
    .list<PodObject>(Pod, selectorLabels(cluster.name, 'api-server'))
    .filter((pod) => isReady(pod) && !pod.metadata.deletionTimestamp);
  // A single one is that which agents have reached.
  if (pods.length < 2 || !rendersWith(cluster, 'showsAgents')) return undefined;
  const servers = pods.map(({ metadata, status }) => [metadata.uid, status?.podIP]);
  // Each change of their Deployment: an agent that was replaced between two reconciles leaves the same number of agents.
  const agents = live.map(({ metadata }) => [metadata.uid, metadata.resourceVersion]);
  const result = await agentsProbe.probe([servers, agents], async () => {
    const answers = await askPods(pods, hasAgent);
    // An API server that does not answer here is not ready, which its own condition reports.
    const without = answers.filter((answer) => answer.kind === 'answered' && !answer.value).map(({ pod }) => pod);
    if (without.length > 0) throw new Error(without.join(', '));
  });
  if (result.kind !== 'fails') return undefined;
  const { since = now, retryAt } = result;
  if (now.getTime() - since.getTime() < patienceMs) return done({}, retryAt);
  const endpoint = facts.konnectivityEndpoint;
  const at = endpoint === undefined ? '' : ` ${formatEndpoint(endpoint)}`;
  const message = `no konnectivity agent is connected to ${messageOf(result.error)}, so that logs, exec and webhooks fail there: each agent connects to every API server by new connections to${at}, so let what is in front of it lead them to any API server, without affinity to the client's address`;
  return degraded('APIServerWithoutAgent', message, { requeueAt: retryAt });
}

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
async function retryPods(
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
