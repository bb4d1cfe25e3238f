import type { EventObject } from '../../../imports/kubernetes.ts';
import type { TLSRouteObject } from '../../../imports/gateway-api.ts';
import type { Gateway as GatewayName } from '../../../constructs/api/exposure-spec.ts';
import { Gateway, TLSRoute } from '../../../constructs/api/resources.ts';
import { itemsOf, textOf } from '../../../constructs/cluster/foreign-values.ts';
import { type GatewayObject, isCurrent, type ReportedCondition } from '../../clusters/exposure/gateway-object.ts';
import {
  type Listener,
  listenersOf,
  reportsOn,
  routeConditions,
  routesNotServed,
  routeStateOf,
} from '../../clusters/exposure/route-status.ts';
import { type KubeObject, objectKey } from '../../kube/object.ts';
import { oneLine } from '../../kube/termination-message.ts';
import { type Cause, warningsAbout } from './warnings.ts';

/** The Gateway that a control plane names, and its routes, as its user may read them. */
export interface GatewayEvidence {
  readonly name: GatewayName;
  /** Why there is none, if so; undefined for one that the user may not read. */
  readonly gateway: GatewayObject | 'NotFound' | 'NotServed' | undefined;
  /** Events about the Gateway, which are in its own namespace. */
  readonly events: readonly EventObject[];
  readonly routes: readonly TLSRouteObject[] | 'NotServed';
}

/**
 * What keeps a Gateway from passing connections on to a control plane. One that works adds nothing, not even warnings:
 * most are about the control planes and web pages of others.
 * @param events those of the namespace of the control plane
 */
export function gatewayCauses(evidence: GatewayEvidence, events: readonly EventObject[], now: number): Cause[] {
  const { name, gateway, routes } = evidence;
  const own = causesOf(evidence, now);
  if (routes === 'NotServed') return gateway === 'NotServed' ? own : [...own, { text: routesNotServed, causes: [] }];
  const takesRoutes = gateway === undefined || (typeof gateway === 'object' && isTaken(gateway));
  return [...own, ...routeCauses(routes, { gateway: name, takesRoutes, events }, now)];
}

function causesOf({ name, gateway, events, routes }: GatewayEvidence, now: number): Cause[] {
  const { kind } = Gateway;
  const at = `${kind} ${objectKey(name)}`;
  if (gateway === undefined) return [];
  if (gateway === 'NotFound') return [{ text: `${at}: does not exist: create it`, causes: [] }];
  if (gateway === 'NotServed') {
    const text = `${at}: the management cluster does not serve the Gateway API in version v1: install the Gateway API`;
    return [{ text, causes: [] }];
  }
  const attached = routes === 'NotServed' ? [] : routes.flatMap((route) => listenersOf(route, name));
  const listeners = listenerCauses(
    gateway,
    attached.map(({ listener }) => listener),
  );
  const reported = problemsOf(gateway);
  // Where the controller reports a failure, the missing address is its consequence.
  const problems = reported.length > 0 || listeners.length > 0 ? reported : addressProblem(gateway);
  if (problems.length === 0 && listeners.length === 0) return [];
  return [
    {
      text: [at, problems.join('; ')].filter(Boolean).join(': '),
      causes: [...listeners, ...warningsAbout({ kind, name: name.name }, events, now)],
    },
  ];
}

const needed = ['Accepted', 'Programmed'];

function problemsOf(gateway: GatewayObject): string[] {
  if (isTaken(gateway)) return problemsIn(itemsOf(gateway.status?.conditions), gateway, needed);
  const className = gateway.spec?.gatewayClassName ?? '';
  return [`no controller has taken it: check that GatewayClass ${className} exists and that its controller runs`];
}

/** Whether a controller has reported anything. The conditions with which the API creates a Gateway have no generation. */
function isTaken({ status }: GatewayObject): boolean {
  return itemsOf(status?.conditions).some(
    ({ status: value, observedGeneration }) => value !== 'Unknown' || observedGeneration !== undefined,
  );
}

function addressProblem({ status }: GatewayObject): string[] {
  if (itemsOf(status?.addresses).length > 0) return [];
  return ['has no address yet: check that the load balancer of its controller gets one'];
}

/** @param attached the listeners to which the routes attach: while there are none, those of protocol TLS are relevant */
function listenerCauses(gateway: GatewayObject, attached: readonly string[]): Cause[] {
  const ofTls = itemsOf(gateway.spec?.listeners)
    .filter(({ protocol }) => protocol === 'TLS')
    .map(({ name }) => name);
  const relevant = attached.length > 0 ? attached : ofTls;
  return itemsOf(gateway.status?.listeners)
    .filter(({ name }) => relevant.includes(name))
    .flatMap(({ name, conditions }) => {
      const failures = failuresIn(
        itemsOf(conditions).filter(({ type = '' }) => listenerConditions.includes(type)),
        gateway,
      );
      return failures.length === 0 ? [] : [{ text: `listener ${name}: ${failures.join('; ')}`, causes: [] }];
    });
}

/** Others do not keep a listener from its work, and False may be their good state, as of `OverlappingTLSConfig`. */
const listenerConditions = ['Accepted', 'Programmed', 'ResolvedRefs', 'Conflicted'];

/** Where routes lead, and what is known about it. */
interface RoutesTarget {
  readonly gateway: GatewayName;
  /** Whether a controller can take them. Otherwise that none has is no cause, but a consequence. */
  readonly takesRoutes: boolean;
  /** Events of the namespace of the routes. */
  readonly events: readonly EventObject[];
}

/** The routes of a control plane that its Gateway does not serve, each with its newest warnings. */
function routeCauses(routes: readonly TLSRouteObject[], target: RoutesTarget, now: number): Cause[] {
  return routes.flatMap((route) => {
    const { kind } = TLSRoute;
    const { name } = route.metadata;
    const problems = listenersOf(route, target.gateway).flatMap((listener) => routeProblems(route, listener, target));
    if (problems.length === 0) return [];
    return [
      { text: `${kind} ${name}: ${problems.join('; ')}`, causes: warningsAbout({ kind, name }, target.events, now) },
    ];
  });
}

function routeProblems(route: TLSRouteObject, listener: Listener, { takesRoutes }: RoutesTarget): string[] {
  const state = routeStateOf(route, listener);
  switch (state.kind) {
    case 'accepted':
      return [];
    case 'rejected':
      return [oneLine(state.message.replace(`${TLSRoute.kind} ${route.metadata.name}`, 'it'))];
    case 'waiting': {
      const conditions = reportsOn(route, listener).flat();
      if (conditions.length > 0) return problemsIn(conditions, route, routeConditions);
      const advice = `check that the controller of Gateway ${objectKey(listener)} runs and supports TLSRoutes`;
      return takesRoutes ? [`no controller has taken it: ${advice}`] : [];
    }
  }
}

/** The conditions of the Gateway API that are True when something is wrong. */
const negative = ['Conflicted'];

/** Why an object does not work, by its conditions. @param needed the types of those that must be True */
function problemsIn(conditions: readonly ReportedCondition[], object: KubeObject, needed: readonly string[]): string[] {
  const relevant = conditions.filter(({ type = '' }) => needed.includes(type));
  const stale = relevant.filter((condition) => !isCurrent(condition, object)).map(({ type }) => type);
  const missing = needed.filter((type) => !relevant.some((condition) => condition.type === type));
  return [
    ...(stale.length === 0
      ? []
      : [
          `the controller has not processed generation ${object.metadata.generation} yet (${[...new Set(stale)].join(', ')})`,
        ]),
    ...(missing.length === 0 ? [] : [`the controller has not reported ${missing.join(' and ')} yet`]),
    ...failuresIn(relevant, object),
  ];
}

/** The conditions that report a failure of the present generation, with what the controller says about it. */
function failuresIn(conditions: readonly ReportedCondition[], object: KubeObject): string[] {
  return conditions
    .filter((condition) => isCurrent(condition, object))
    .filter(({ type = '', status }) => status !== (negative.includes(type) ? 'False' : 'True'))
    .map(({ type, status, reason, message }) =>
      [`${type} is ${status}`, oneLine(textOf(reason) ?? ''), oneLine(textOf(message) ?? '')]
        .filter(Boolean)
        .join(': '),
    );
}
