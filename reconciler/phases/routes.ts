import type { TLSRouteObject } from '../../imports/gateway-api.ts';
import { exposureOf, type Gateway, type IngressExposure } from '../../constructs/api/exposure-spec.ts';
import type { Part } from '../../constructs/control-plane/chart.ts';
import type { Facts } from '../../constructs/cluster/facts.ts';
import { needsTunnel } from '../../constructs/cluster/in-cluster-access.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import type { KubeObject } from '../kube/object.ts';
import { done, InvalidConfiguration, notRequested, type Outcome, wait } from '../engine/outcome.ts';
import { controlPlaneChart } from './charts.ts';
import type { RenderedName } from '../kube/rendering.ts';
import { routesNotServed, routeStateOf } from '../clusters/exposure/route-status.ts';
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
    if (exposure.kind === 'gateway') return attachToGateway(scope, exposure.gateway);
    if (exposure.kind === 'ingress') return applyIngresses(scope, exposure.ingress);
    return notRequested();
  },
});

const part: Part = 'routes';

async function attachToGateway(scope: Scope, gateway: Gateway): Promise<Outcome> {
  const { facts, sharedResources } = scope;
  const { gatewayListener } = facts;
  if (gatewayListener === undefined) {
    return wait(
      'WaitingForRoutes',
      'no listener of the Gateway serves this endpoint, and the operator does not change the routes: see the condition SyncControlPlaneEndpointReady',
    );
  }

  const [tlsRouteVersion] = sharedResources.servedVersions('TLSRoute');
  if (tlsRouteVersion === undefined) {
    throw new InvalidConfiguration('GatewayAPINotInstalled', routesNotServed);
  }

  const found = { tlsRouteVersion };
  const live = await applyRoutes<TLSRouteObject>(scope, { ...facts, ...found });

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
async function applyIngresses(scope: Scope, ingress: IngressExposure): Promise<Outcome> {
  const { facts, sharedResources } = scope;
  const needsTraefik = ingress.deploy && ingress.controller === 'traefik';
  if (needsTraefik && sharedResources.servedVersions('IngressRouteTCP').length === 0) {
    throw new InvalidConfiguration(
      'IngressAPINotInstalled',
      'the management cluster does not serve IngressRouteTCP of traefik.io/v1alpha1: install the CRDs of Traefik, or choose another exposure.ingress.controller',
    );
  }

  await applyRoutes(scope, facts);

  return done();
}

/**
 * Applies the routes, and returns those that the control plane needs. Where pods connect to the endpoint, it works
 * without the route of the tunnel: the step of the Service `kubernetes` reports that one.
 */
async function applyRoutes<T extends KubeObject>({ cluster, onRefused, writer }: Scope, facts: Facts): Promise<T[]> {
  const all = controlPlaneChart(cluster, facts, part);
  const isNeeded = ({ metadata }: RenderedName) =>
    needsTunnel(cluster.spec) || metadata.name !== namesOf(cluster.name).routes.tunnel;
  const live = await writer.apply<T>(all, { onRefused, only: isNeeded });
  await writer.apply(all, { onRefused: () => {}, only: (route) => !isNeeded(route) });
  return live;
}
