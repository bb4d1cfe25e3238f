import type { ConditionType } from '../../../constructs/api/conditions.ts';
import { Deployment } from '../../../constructs/api/resources.ts';
import { servesKubernetesService, unsupportedInClusterAccess } from '../../../constructs/cluster/in-cluster-access.ts';
import type { WorkloadPart } from '../../../constructs/workload/chart.ts';
import { kubernetesService } from '../../../constructs/workload/in-cluster-access/kubernetes-service.ts';
import type { KubeObject } from '../../kube/object.ts';
import { somePodAvailable } from '../../kube/readiness.ts';
import { podTrouble } from '../../pods/pod-trouble.ts';
import { degraded, done, InvalidConfiguration, notObserved, type Outcome, wait } from '../../engine/outcome.ts';
import { workloadPart, type WorkloadScope } from './part.ts';
import { workloadRBAC } from './rbac.ts';

/**
 * The add-ons on the nodes of the hosted cluster. They do not wait for each other, and no other phase waits for them.
 */
export const kubeProxy = addOn('kube-proxy', 'WorkloadKubeProxyReady');
export const coreDNS = addOn('coredns', 'WorkloadCoreDNSReady');
export const konnectivityAgent = addOn('konnectivity-agent', 'WorkloadKonnectivityReady');
export const inClusterAccess = addOn('in-cluster-access', 'WorkloadInClusterAccessReady', refuseUnsupported);
/** Proxies in a namespace of users, who may refuse pods there. */
export const serviceAccess = addOn(
  'service-access',
  'WorkloadKubernetesServiceReady',
  refuseUnsupported,
  (live, scope) => refusedPods(live, scope) ?? notServed(scope),
);

export const addOns = [kubeProxy, coreDNS, konnectivityAgent, inClusterAccess, serviceAccess] as const;

function addOn(
  part: WorkloadPart,
  condition: ConditionType,
  check: (scope: WorkloadScope) => void = () => {},
  problemOf: (live: readonly KubeObject[], scope: WorkloadScope) => Outcome | undefined = () => undefined,
) {
  return workloadPart({
    condition,
    needs: [workloadRBAC],
    part,
    before(scope) {
      check(scope);
      return nodesAreKnown(scope);
    },
    judge(live, scope) {
      const problem = problemOf(live, scope);
      if (problem) return problem;
      // Without nodes no pod can run, and none is missing.
      if (scope.facts.nodes === 0) return done();
      const problems = live.map(somePodAvailable).flatMap((readiness) => (readiness.ready ? [] : [readiness.message]));
      return problems.length === 0 ? done() : wait('WaitingForPods', problems.join('; '));
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

function refusedPods(live: readonly KubeObject[], { now }: WorkloadScope): Outcome | undefined {
  const deployments = live.filter(({ kind }) => kind === Deployment.kind);
  const trouble = podTrouble({ pods: [], deployments, now });
  if (!trouble) return undefined;
  return wait(
    trouble.reason,
    `${trouble.message}: admit these pods in namespace ${kubernetesService.namespace} of the hosted cluster; until then pods reach the API server by their environment only`,
  );
}

function notServed({ cluster, facts }: WorkloadScope): Outcome | undefined {
  if (servesKubernetesService(cluster, facts)) return undefined;
  return degraded(
    'ServiceNotServed',
    'the Service kubernetes leads nowhere, because the endpoint needs a host name that its clients do not send: pods reach the API server by their environment only. Set inClusterAccess to Proxy if a program needs the name kubernetes.default.svc',
    {},
  );
}
