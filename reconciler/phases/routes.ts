import { exposureOf, type Gateway, type IngressExposure } from '../../constructs/api/exposure-spec.ts';
import { type Part, renderControlPlane } from '../../constructs/control-plane/chart.ts';
import { done, InvalidConfiguration, type Outcome, wait } from '../engine/outcome.ts';
import { type RouteObject, routeStateOf } from '../exposure/route-status.ts';
import { phase, type Scope } from './scope.ts';
import { endpoint } from './endpoint.ts';
import { refuseClaimedHosts } from './host-claims.ts';

/**
 * The routes from a shared entry to the API servers; done immediately for exposure strategies without a shared entry.
 */
export const routes = phase({
  condition: 'APIServerTLSRoutesReady',
  needs: [endpoint],
  async run(scope): Promise<Outcome> {
    const { cluster, facts } = scope;
    // A published endpoint stays a fact even if another control plane holds its host name. A route would then take the
    // traffic of that control plane.
    if (facts.endpoint) refuseClaimedHosts(scope, facts.endpoint);

    const exposure = exposureOf(cluster.spec);
    switch (exposure.kind) {
      case 'gateway':
        return attachToGateway(scope, exposure.gateway);
      case 'ingress':
        return applyIngresses(scope, exposure.ingress);
      case 'loadBalancer':
      case 'nodePort':
        return done();
    }
  },
});

const part: Part = 'routes';

async function attachToGateway({ cluster, facts, sharedResources, writer }: Scope, gateway: Gateway): Promise<Outcome> {
  const { gatewayListener } = facts;
  if (gatewayListener === undefined) {
    return wait(
      'WaitingForRoutes',
      'no listener of the Gateway serves this endpoint, and the operator does not change the routes: see the condition SyncControlPlaneEndpointReady',
    );
  }

  const [tlsRouteVersion] = sharedResources.servedVersions('TLSRoute');
  if (tlsRouteVersion === undefined) {
    throw new InvalidConfiguration(
      'GatewayAPINotInstalled',
      'the management cluster does not serve TLSRoute of gateway.networking.k8s.io in v1, v1alpha3 or v1alpha2: install Gateway API 1.5 or newer, or its experimental channel',
    );
  }

  const found = { tlsRouteVersion };
  const live = await writer.apply<RouteObject>(renderControlPlane(cluster, { ...facts, ...found }, part));

  const listener = { ...gateway, listener: gatewayListener };
  const states = live.map((route) => routeStateOf(route, listener));
  const rejected = states.filter((state) => state.kind === 'rejected');
  if (rejected.length > 0) return wait('RouteRejected', rejected.map(({ message }) => message).join('; '));
  const waiting = states.find((state) => state.kind === 'waiting');
  return waiting ? wait('WaitingForRoutes', waiting.message) : done(found);
}

/**
 * Ingress controllers do not report whether they accept an Ingress. The phase `reachable` checks the endpoint instead.
 */
async function applyIngresses(
  { cluster, facts, sharedResources, writer }: Scope,
  ingress: IngressExposure,
): Promise<Outcome> {
  const needsTraefik = ingress.deploy && ingress.controller === 'traefik';
  if (needsTraefik && sharedResources.servedVersions('IngressRouteTCP').length === 0) {
    throw new InvalidConfiguration(
      'IngressAPINotInstalled',
      'the management cluster does not serve IngressRouteTCP of traefik.io/v1alpha1: install the CRDs of Traefik, or choose another exposure.ingress.controller',
    );
  }

  await writer.apply(renderControlPlane(cluster, facts, part));

  return done();
}
