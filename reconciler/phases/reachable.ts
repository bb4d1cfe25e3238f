import { exposureOf } from '../../constructs/api/exposure-spec.ts';
import { Ingress, IngressRouteTCP, Service, tlsRoutes } from '../../constructs/api/resources.ts';
import { type Endpoint, formatEndpoint } from '../../constructs/cluster/facts.ts';
import { selectorLabels } from '../../constructs/cluster/labels.ts';
import { gatewayState } from '../clusters/exposure/gateway-object.ts';
import { done, notObserved, type Outcome, wait } from '../engine/outcome.ts';
import { phase, type Scope } from './scope.ts';
import { describeUnreachable } from '../clusters/exposure/unreachable.ts';
import { awaitedServer } from '../desired-state/upgrade/followers.ts';
import { apiServer } from './api-server.ts';
import { certificates } from './certificates.ts';
import { hibernation } from './hibernation.ts';
import { kubeconfig } from './kubeconfig.ts';
import { routes } from './routes.ts';

/**
 * Checks that the API server of this control plane answers at the endpoint, on the path that workers use. An accepted
 * route does not prove that: the host name may lead nowhere, or to another server. The check repeats until it succeeds,
 * and after a change on the path.
 */
export const reachable = phase({
  condition: 'APIServerReachable',
  needs: [hibernation, routes, kubeconfig, certificates],
  after: [apiServer],
  async run(scope): Promise<Outcome> {
    const awaited = awaitedServer(scope);
    if (awaited) return awaited;
    const { facts, now, endpointProbe } = scope;
    const endpoint = facts.endpoint;

    const result = await endpointProbe.probe(wayOf(scope, endpoint), () => scope.hosted(facts).readyThroughEndpoint());

    switch (result.kind) {
      case 'works':
        return done();
      case 'unknown':
        return notObserved(`no API server has answered at ${formatEndpoint(endpoint)} yet`);
      case 'fails':
        return wait('EndpointUnreachable', describeUnreachable(result.error, { endpoint, gateway: gatewayOf(scope) }), {
          afterMs: Math.max(0, (result.retryAt ?? now).getTime() - now.getTime()),
        });
    }
  },
});

/** The observable objects on the path of a worker's connection to this endpoint. */
export function wayOf(scope: Scope, endpoint: Endpoint): unknown {
  const { cluster, reader } = scope;
  const labels = selectorLabels(cluster.name, 'api-server');
  const objects = [Service, Ingress, IngressRouteTCP, ...tlsRoutes.slice(0, 1)].flatMap((resource) =>
    reader.list(resource, labels),
  );
  const gateway = gatewayOf(scope);
  return [
    endpoint,
    objects.map(({ metadata: { uid, resourceVersion } }) => [uid, resourceVersion]),
    gateway && gatewayState(gateway),
  ];
}

/** The Gateway that leads to the endpoint; undefined for other exposure strategies, or when it does not exist. */
export function gatewayOf({ cluster, sharedResources }: Scope) {
  const exposure = exposureOf(cluster.spec);
  return exposure.kind === 'gateway' ? sharedResources.gateway(exposure.gateway) : undefined;
}
