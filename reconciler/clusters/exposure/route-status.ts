import type { TLSRouteObject } from '../../../imports/gateway-api.ts';
import type { Gateway } from '../../../constructs/api/exposure-spec.ts';
import { itemsOf } from '../../../constructs/cluster/foreign-values.ts';
import { isCurrent, type ReportedCondition } from './gateway-object.ts';

/** Of a management cluster that serves no version in which the operator can write routes. */
export const routesNotServed =
  'the management cluster does not serve TLSRoute of gateway.networking.k8s.io in v1, v1alpha3 or v1alpha2: install Gateway API 1.5 or newer, or its experimental channel';

type ParentReference = NonNullable<NonNullable<TLSRouteObject['spec']>['parentRefs']>[number];

/** The listener that a route attaches to. */
export interface Listener extends Gateway {
  readonly listener: string;
}

/** Whether a route is accepted, and otherwise one sentence with the cause. */
export type RouteState =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'waiting'; readonly message: string }
  | { readonly kind: 'rejected'; readonly message: string };

/** Both are necessary: Accepted is also true for a route whose backend is refused. */
export const routeConditions: readonly string[] = ['Accepted', 'ResolvedRefs'];

/** What each controller reports about a route at a listener, also about an older generation. */
export function reportsOn(route: TLSRouteObject, listener: Listener): (readonly ReportedCondition[])[] {
  return itemsOf(route.status?.parents)
    .filter(({ parentRef }) => isFor(parentRef ?? {}, listener, route.metadata.namespace))
    .map(({ conditions }) => itemsOf(conditions));
}

/**
 * The state of the current generation of a route, as the Gateway's controller reports it. The acceptance of one
 * controller is enough.
 */
export function routeStateOf(route: TLSRouteObject, listener: Listener): RouteState {
  const name = `TLSRoute ${route.metadata.name}`;
  const answers = reportsOn(route, listener).map((report) => report.filter((condition) => isCurrent(condition, route)));
  if (answers.some((answer) => routeConditions.every((type) => isTrue(answer, type)))) return { kind: 'accepted' };

  const refusal = answers.flat().find(({ type = '', status }) => routeConditions.includes(type) && status === 'False');
  const at = `Gateway ${listener.namespace}/${listener.name}`;
  if (!refusal) {
    return {
      kind: 'waiting',
      message: `${at} has not reported yet whether it accepts ${name}: check that its controller is running`,
    };
  }
  const { type = '', reason = type, message = '' } = refusal;
  const remedy = remedies[reason]?.(listener) ?? `check the events and the status of ${at}`;
  return {
    kind: 'rejected',
    message: [`${at} refuses ${name}: ${reason}`, message, remedy].filter(Boolean).join(': '),
  };
}

/** Remedies for the reasons that Gateway API defines. */
const remedies: Readonly<Record<string, (listener: Listener) => string>> = {
  NotAllowedByListeners: ({ listener }) => `allow TLSRoutes of this namespace in allowedRoutes of listener ${listener}`,
  NoMatchingListenerHostname: ({ listener }) => `give listener ${listener} a wildcard hostname that covers the route's`,
  NoMatchingParent: ({ listener }) => `give the Gateway a listener ${listener} of protocol TLS`,
  UnsupportedValue: () => 'use a Gateway whose controller supports TLSRoutes with TLS passthrough',
};

/** The listeners of a Gateway to which a route attaches. */
export function listenersOf({ metadata, spec }: TLSRouteObject, gateway: Gateway): Listener[] {
  return itemsOf(spec?.parentRefs).flatMap((parent) => {
    const listener = { ...gateway, listener: parent.sectionName ?? '' };
    return isFor(parent, listener, metadata.namespace) ? [listener] : [];
  });
}

function isFor(parent: ParentReference, { namespace, name, listener }: Listener, ownNamespace = ''): boolean {
  return (
    (parent.kind ?? 'Gateway') === 'Gateway' &&
    (parent.namespace ?? ownNamespace) === namespace &&
    parent.name === name &&
    parent.sectionName === listener
  );
}

function isTrue(conditions: readonly ReportedCondition[], type: string): boolean {
  return conditions.some((condition) => condition.type === type && condition.status === 'True');
}
