import type { Gateway } from '../../../constructs/api/exposure-spec.ts';
import { TLSRoute } from '../../../constructs/api/resources.ts';
import {
  type Listener,
  listenersOf,
  reportsOn,
  routeConditions,
  type RouteObject,
  routeStateOf,
} from '../../clusters/exposure/route-status.ts';
import { objectKey } from '../../kube/object.ts';
import { oneLine } from '../../clusters/pods/termination-message.ts';
import { type Cause, warningsAbout } from './cause.ts';
import type { EventObject } from '../../clusters/pods/warnings.ts';
import { problemsIn } from './reported-problems.ts';

/** Where routes lead, and what is known about it. */
export interface RoutesTarget {
  readonly gateway: Gateway;
  /** Whether a controller can take them. Otherwise that none has is no cause, but a consequence. */
  readonly takesRoutes: boolean;
  /** Events of the namespace of the routes. */
  readonly events: readonly EventObject[];
}

/** The routes of a control plane that its Gateway does not serve, each with its newest warnings. */
export function routeCauses(routes: readonly RouteObject[], target: RoutesTarget, now: number): Cause[] {
  return routes.flatMap((route) => {
    const { kind } = TLSRoute;
    const { name } = route.metadata;
    const problems = listenersOf(route, target.gateway).flatMap((listener) => problemsOf(route, listener, target));
    if (problems.length === 0) return [];
    return [
      { text: `${kind} ${name}: ${problems.join('; ')}`, causes: warningsAbout({ kind, name }, target.events, now) },
    ];
  });
}

function problemsOf(route: RouteObject, listener: Listener, { takesRoutes }: RoutesTarget): string[] {
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
