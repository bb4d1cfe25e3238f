import type { Gateway } from '../../constructs/api/exposure-spec.ts';
import type { KubeObject } from '../kube/object.ts';

/** The fields of a TLSRoute that the operator reads. */
export interface RouteObject extends KubeObject {
  readonly status?: { readonly parents?: readonly ParentStatus[] };
}

/** Status of the route that one controller reports for one Gateway. */
interface ParentStatus {
  readonly parentRef: {
    readonly group?: string;
    readonly kind?: string;
    readonly namespace?: string;
    readonly name: string;
    readonly sectionName?: string;
  };
  readonly conditions?: readonly RouteCondition[];
}

interface RouteCondition {
  readonly type: string;
  readonly status: string;
  readonly observedGeneration?: number;
  readonly reason?: string;
  readonly message?: string;
}

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
const necessary = ['Accepted', 'ResolvedRefs'];

/**
 * The state of the current generation of a route, as the Gateway's controller reports it. The acceptance of one
 * controller is enough.
 */
export function routeStateOf(route: RouteObject, listener: Listener): RouteState {
  const name = `TLSRoute ${route.metadata.name}`;
  const parents = (route.status?.parents ?? []).filter((parent) => isFor(parent, listener, route.metadata.namespace));
  const answers = parents.map(({ conditions = [] }) => conditions.filter((condition) => isCurrent(condition, route)));
  if (answers.some((answer) => necessary.every((type) => isTrue(answer, type)))) return { kind: 'accepted' };

  const refusal = answers.flat().find(({ type, status }) => necessary.includes(type) && status === 'False');
  const at = `Gateway ${listener.namespace}/${listener.name}`;
  if (!refusal) {
    return {
      kind: 'waiting',
      message: `${at} has not reported yet whether it accepts ${name}: check that its controller is running`,
    };
  }
  const { reason = refusal.type, message = '' } = refusal;
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

function isFor({ parentRef }: ParentStatus, { namespace, name, listener }: Listener, ownNamespace = ''): boolean {
  return (
    (parentRef.kind ?? 'Gateway') === 'Gateway' &&
    (parentRef.namespace ?? ownNamespace) === namespace &&
    parentRef.name === name &&
    parentRef.sectionName === listener
  );
}

/** Conditions without generation count as current, because the field is optional. */
function isCurrent({ observedGeneration }: RouteCondition, { metadata }: RouteObject): boolean {
  return observedGeneration === undefined || observedGeneration >= (metadata.generation ?? 0);
}

function isTrue(conditions: readonly RouteCondition[], type: string): boolean {
  return conditions.some((condition) => condition.type === type && condition.status === 'True');
}
