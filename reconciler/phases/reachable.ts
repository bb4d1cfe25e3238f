import { exposureOf } from '../../constructs/api/exposure-spec.ts';
import { Ingress, IngressRouteTCP, Service, tlsRoutes } from '../../constructs/api/resources.ts';
import { formatEndpoint } from '../../constructs/cluster/facts.ts';
import { selectorLabels } from '../../constructs/cluster/labels.ts';
import { gatewayState } from '../exposure/gateway-object.ts';
import { done, type Outcome, wait } from '../engine/outcome.ts';
import { phase, type Scope } from './scope.ts';
import { describeUnreachable } from '../exposure/unreachable.ts';
import { apiServer } from './api-server.ts';
import { kubeconfig } from './kubeconfig.ts';
import { routes } from './routes.ts';

/**
 * Our own API server answers at the endpoint, by the way that workers go. That a route is accepted does not say so: the
 * name may lead nowhere, or to somebody else. Asked until it does, and again when something on the way has changed.
 */
export const reachable = phase({
  condition: 'APIServerReachable',
  needs: [apiServer, routes, kubeconfig],
  async run(scope): Promise<Outcome> {
    const { facts, now, endpointProbe } = scope;
    const endpoint = facts.endpoint;

    const result = await endpointProbe.look(wayOf(scope), () => scope.hosted(facts).readyThroughEndpoint());

    switch (result.kind) {
      case 'works':
        return done();
      case 'unknown':
        return wait('EndpointUnreachable', `nobody has answered at ${formatEndpoint(endpoint)} yet`);
      case 'fails':
        return wait('EndpointUnreachable', describeUnreachable(result.error, { endpoint, gateway: gatewayOf(scope) }), {
          afterMs: Math.max(0, (result.retryAt ?? now).getTime() - now.getTime()),
        });
    }
  },
});

/** Everything a connection of a worker passes through, as far as it can be seen. */
function wayOf(scope: Scope): unknown {
  const { cluster, facts, reader } = scope;
  const labels = selectorLabels(cluster.name, 'api-server');
  const objects = [Service, Ingress, IngressRouteTCP, ...tlsRoutes.slice(0, 1)].flatMap((resource) =>
    reader.list(resource, labels),
  );
  const gateway = gatewayOf(scope);
  return [
    facts.endpoint,
    objects.map(({ metadata: { uid, resourceVersion } }) => [uid, resourceVersion]),
    gateway && gatewayState(gateway),
  ];
}

function gatewayOf({ cluster, sharedResources }: Scope) {
  const exposure = exposureOf(cluster.spec);
  return exposure.kind === 'gateway' ? sharedResources.gateway(exposure.gateway) : undefined;
}
