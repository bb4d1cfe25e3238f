import type { Gateway as GatewayName } from '../../../constructs/api/exposure-spec.ts';
import { Gateway } from '../../../constructs/api/resources.ts';
import type { GatewayObject } from '../../clusters/exposure/gateway-object.ts';
import { listenersOf, type RouteObject, routesNotServed } from '../../clusters/exposure/route-status.ts';
import { objectKey } from '../../kube/object.ts';
import { type Cause, warningsAbout } from './cause.ts';
import type { EventObject } from '../../clusters/pods/warnings.ts';
import { failuresIn, problemsIn } from './reported-problems.ts';
import { routeCauses } from './route-causes.ts';

/** The Gateway that a control plane names, and its routes, as its user may read them. */
export interface GatewayEvidence {
  readonly name: GatewayName;
  /** Why there is none, if so; undefined for one that the user may not read. */
  readonly gateway: GatewayObject | 'NotFound' | 'NotServed' | undefined;
  /** Events about the Gateway, which are in its own namespace. */
  readonly events: readonly EventObject[];
  readonly routes: readonly RouteObject[] | 'NotServed';
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
  if (isTaken(gateway)) return problemsIn(gateway.status?.conditions ?? [], gateway, needed);
  const className = gateway.spec.gatewayClassName ?? '';
  return [`no controller has taken it: check that GatewayClass ${className} exists and that its controller runs`];
}

/** Whether a controller has reported anything. The conditions with which the API creates a Gateway have no generation. */
function isTaken({ status }: GatewayObject): boolean {
  return (status?.conditions ?? []).some(
    ({ status: value, observedGeneration }) => value !== 'Unknown' || observedGeneration !== undefined,
  );
}

function addressProblem({ status }: GatewayObject): string[] {
  if ((status?.addresses ?? []).length > 0) return [];
  return ['has no address yet: check that the load balancer of its controller gets one'];
}

/** @param attached the listeners to which the routes attach: while there are none, those of protocol TLS are relevant */
function listenerCauses(gateway: GatewayObject, attached: readonly string[]): Cause[] {
  const ofTls = gateway.spec.listeners.filter(({ protocol }) => protocol === 'TLS').map(({ name }) => name);
  const relevant = attached.length > 0 ? attached : ofTls;
  return (gateway.status?.listeners ?? [])
    .filter(({ name }) => relevant.includes(name))
    .flatMap(({ name, conditions = [] }) => {
      const failures = failuresIn(
        conditions.filter(({ type }) => listenerConditions.includes(type)),
        gateway,
      );
      return failures.length === 0 ? [] : [{ text: `listener ${name}: ${failures.join('; ')}`, causes: [] }];
    });
}

/** Others do not keep a listener from its work, and False may be their good state, as of `OverlappingTLSConfig`. */
const listenerConditions = ['Accepted', 'Programmed', 'ResolvedRefs', 'Conflicted'];
