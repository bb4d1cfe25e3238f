import type { TLSRouteObject } from '../../../imports/gateway-api.ts';
import { exposureOf } from '../../../constructs/api/exposure-spec.ts';
import { Deployment, TLSRoute } from '../../../constructs/api/resources.ts';
import { type Endpoint, formatEndpoint } from '../../../constructs/cluster/facts.ts';
import { missingTunnel, needsTunnel, usesTunnel } from '../../../constructs/cluster/in-cluster-access.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import { kubernetesService } from '../../../constructs/workload/in-cluster-access/kubernetes-service.ts';
import { degraded, notObserved, type Outcome, wait } from '../../engine/outcome.ts';
import { routeStateOf } from '../../clusters/exposure/route-status.ts';
import { describeUnreachable } from '../../clusters/exposure/unreachable.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isSignedBy } from '../../pki/certificate.ts';
import { splitCertificates } from '../../pki/pem.ts';
import { findPodProblem } from '../../clusters/pods/pod-problem.ts';
import { gatewayOf, wayOf } from '../reachable.ts';
import type { WorkloadScope } from './part.ts';

/** Why the Service `kubernetes` does not lead to the API server although pods connect to the endpoint. */
export async function serviceProblem(live: readonly KubeObject[], scope: WorkloadScope): Promise<Outcome | undefined> {
  const { cluster, facts } = scope;
  const missing = missingTunnel(cluster.spec);
  if (missing !== undefined) return notServed(missing);
  const refused = refusedPods(live, scope);
  if (refused) return refused;
  // With proxies on the nodes, pods reach nothing without the tunnel, and this step renders nothing.
  if (!usesTunnel(cluster.spec) || needsTunnel(cluster.spec) || !facts.tunnelEndpoint) return undefined;
  const problem = caProblem(facts.clusterCA) ?? routeProblem(scope);
  return problem === undefined ? tunnelProblem(scope, facts.tunnelEndpoint) : notServed(problem);
}

function notServed(why: string, requeueAt?: Date): Outcome {
  const message = `the Service kubernetes leads nowhere, and pods reach the API server by their environment only: ${why}`;
  return degraded('ServiceNotServed', message, { requeueAt });
}

function refusedPods(live: readonly KubeObject[], { now }: WorkloadScope): Outcome | undefined {
  const deployments = live.filter(({ kind }) => kind === Deployment.kind);
  const podProblem = findPodProblem({ pods: [], deployments, now });
  if (!podProblem) return undefined;
  return wait(
    podProblem.reason,
    `${podProblem.message}: admit these pods in namespace ${kubernetesService.namespace} of the hosted cluster; until then pods reach the API server by their environment only`,
  );
}

/** The CA of an issuer stays until its rotation. The operator itself would trust it. */
function caProblem(pem = ''): string | undefined {
  const certificates = splitCertificates(pem);
  if (certificates.length === 0 || certificates.some((certificate) => isSignedBy(certificate, certificate)))
    return undefined;
  return 'its proxies are HAProxy, which does not trust the CA of this cluster, because another CA has signed it: rotate the cluster CA to a self-signed one if a program needs the name kubernetes.default.svc';
}

/** Ingress controllers do not report whether they accept a route. */
function routeProblem({ cluster, facts, reader }: WorkloadScope): string | undefined {
  const exposure = exposureOf(cluster.spec);
  if (exposure.kind !== 'gateway' || facts.gatewayListener === undefined) return undefined;
  const name = namesOf(cluster.name).routes.tunnel;
  const route = reader.get<TLSRouteObject>(TLSRoute, name);
  if (!route)
    return `TLSRoute ${name} does not exist: check whether a quota or an admission webhook of namespace ${cluster.namespace} refuses it`;
  const state = routeStateOf(route, { ...exposure.gateway, listener: facts.gatewayListener });
  return state.kind === 'accepted' ? undefined : state.message;
}

/** The problem of a host name that does not resolve, or does not lead to the tunnel. */
async function tunnelProblem(scope: WorkloadScope, endpoint: Endpoint): Promise<Outcome | undefined> {
  const { facts, trustProbes, tunnelProbe } = scope;
  const { host, port } = endpoint;
  const result = await tunnelProbe.probe([wayOf(scope, endpoint), facts.clusterCA], async () => {
    await trustProbes.servedBy({ host, port, serverName: host, ca: facts.clusterCA ?? '' });
  });
  switch (result.kind) {
    case 'works':
      return undefined;
    case 'unknown':
      return notObserved(`no tunnel has answered at ${formatEndpoint(endpoint)} yet`);
    case 'fails':
      return notServed(describeUnreachable(result.error, { endpoint, gateway: gatewayOf(scope) }), result.retryAt);
  }
}
