import type { ConditionType } from '../../../constructs/api/conditions.ts';
import { Deployment } from '../../../constructs/api/resources.ts';
import { unsupportedInClusterAccess } from '../../../constructs/cluster/in-cluster-access.ts';
import type { WorkloadPart } from '../../../constructs/workload/chart.ts';
import type { KubeObject } from '../../kube/object.ts';
import { somePodAvailable } from '../../kube/readiness.ts';
import { done, InvalidConfiguration, notObserved, notRequested, type Outcome, wait } from '../../engine/outcome.ts';
import { findPodProblem } from '../../clusters/pods/pod-problem.ts';
import { agentsProblem } from './agents.ts';
import { workloadPart, type WorkloadScope } from './part.ts';
import { workloadRBAC } from './rbac.ts';
import { retryPods } from './retry-pods.ts';
import { serviceProblem } from './service-access.ts';

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
