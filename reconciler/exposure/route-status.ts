import type { Gateway } from '../../constructs/api/exposure-spec.ts';
import type { KubeObject } from '../kube/object.ts';

/** A TLSRoute as the API returns it, as far as it is read here. */
export interface RouteObject extends KubeObject {
  readonly status?: { readonly parents?: readonly ParentStatus[] };
}

/** What one controller says of the route with regard to one Gateway. */
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

/** The listener that a route is to be attached to. */
export interface Listener extends Gateway {
  readonly listener: string;
}

/** Whether a route leads somewhere, and if not one sentence about why. */
export type RouteState =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'waiting'; readonly message: string }
  | { readonly kind: 'rejected'; readonly message: string };

/** Both are needed: a route whose backend is refused is accepted all the same. */
const necessary = ['Accepted', 'ResolvedRefs'];

/** What the Gateway's controller says of the present generation of a route; one controller's consent is enough. */
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
      message: `${at} has not said yet whether it accepts ${name}: is its controller running?`,
    };
  }
  const { reason = refusal.type, message = '' } = refusal;
  const remedy = remedies[reason]?.(listener) ?? `see the events and the status of ${at}`;
  return {
    kind: 'rejected',
    message: [`${at} refuses ${name}: ${reason}`, message, remedy].filter(Boolean).join(': '),
  };
}

/** What a user can do about the reasons that Gateway API defines. */
const remedies: Readonly<Record<string, (listener: Listener) => string>> = {
  NotAllowedByListeners: ({ listener }) =>
    `let allowedRoutes of listener ${listener} admit TLSRoutes of this namespace`,
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

/** A controller that notes no generation is believed: the field is optional. */
function isCurrent({ observedGeneration }: RouteCondition, { metadata }: RouteObject): boolean {
  return observedGeneration === undefined || observedGeneration >= (metadata.generation ?? 0);
}

function isTrue(conditions: readonly RouteCondition[], type: string): boolean {
  return conditions.some((condition) => condition.type === type && condition.status === 'True');
}
