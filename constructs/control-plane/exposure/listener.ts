import { itemsOf, textOf } from '../../cluster/foreign-values.ts';
import { type Endpoint, formatEndpoint } from '../../cluster/facts.ts';
import { outsidePortAnnotation } from '../../api/group.ts';
import type { EndpointDecision, ObservedGateway, ObservedListener } from './strategy.ts';
import type { k8s } from 'cdk8s-plus-30';

/** The input for the choice of a listener. */
export interface ListenerInput {
  readonly gateway: ObservedGateway;
  /** Namespace and name of the Gateway, for messages and because a listener may allow its own namespace only. */
  readonly gatewayName: { readonly namespace: string; readonly name: string };
  /** Namespace of the routes, and its labels. */
  readonly namespace: string;
  readonly namespaceLabels: Readonly<Record<string, string>>;
  /** The part of the endpoint that is already fixed. */
  readonly preset: Partial<Endpoint>;
}

/** A listener with TLS passthrough for every host of its domain. */
interface SuitableListener {
  readonly name: string;
  /** At which clients reach it. */
  readonly port: number;
  /** The part of its host name after the wildcard. */
  readonly domain: string;
}

type ListenerDecision =
  | { readonly found: true; readonly listener: SuitableListener }
  | { readonly found: false; readonly refusal: Refusal };

type Refusal = Extract<EndpointDecision, { known: false }>;

/**
 * The listener of a Gateway to which routes attach: the first one in the order of its spec that serves the fixed part
 * of the endpoint. When there is none, the refusal names every listener of protocol TLS and what to change.
 */
export function chooseListener(question: ListenerInput): ListenerDecision {
  const { gateway, gatewayName, preset } = question;
  const listeners = itemsOf(gateway.spec?.listeners).filter(({ protocol }) => protocol === 'TLS');
  const checked = listeners.map((listener) => ({ listener, changes: necessaryChanges(listener, question) }));
  const suitable = checked
    .filter(({ changes }) => changes.length === 0)
    .map(({ listener }) => asSuitable(listener, gateway));
  const fitting = suitable.find((listener) => serves(listener, preset));
  if (fitting) return { found: true, listener: fitting };

  const name = `Gateway ${gatewayName.namespace}/${gatewayName.name}`;
  if (suitable.length > 0) return refuse('EndpointMismatch', `${name} ${mismatch(suitable, preset)}`);
  if (listeners.length === 0) {
    return refuse(
      'GatewayListenerUnsuitable',
      `${name} has no listener of protocol TLS: add one with tls.mode Passthrough and a hostname such as *.clusters.example.com`,
    );
  }
  const advice = checked.map(({ listener, changes }) => `listener ${listener.name}: ${changes.join(', ')}`);
  return refuse('GatewayListenerUnsuitable', `${name} has no suitable listener; ${advice.join('; ')}`);
}

/** The changes that a TLS listener needs before the control plane can use it, as instructions. */
function necessaryChanges(listener: ObservedListener, question: ListenerInput): string[] {
  return [
    hostnameChange(listener),
    modeChange(listener),
    kindChange(listener),
    namespaceChange(listener, question),
    portChange(listener, question.gateway),
  ].filter((change) => change !== undefined);
}

function hostnameChange({ hostname }: ObservedListener): string | undefined {
  if (textOf(hostname)?.startsWith('*.')) return undefined;
  return `its hostname is ${hostname ? `${hostname}, no wildcard` : 'not set'}, set a wildcard such as *.${hostname || 'clusters.example.com'}`;
}

/** The default is Terminate, with which client certificates never reach an API server. */
function modeChange({ tls }: ObservedListener): string | undefined {
  if (tls?.mode === 'Passthrough') return undefined;
  const mode = tls?.mode ? `is ${tls.mode}` : 'is not set, which means Terminate';
  return `its tls.mode ${mode}, set Passthrough`;
}

const routeGroup = 'gateway.networking.k8s.io';
const routeKind = 'TLSRoute';

function kindChange({ allowedRoutes }: ObservedListener): string | undefined {
  const kinds = itemsOf(allowedRoutes?.kinds);
  const isAllowed = kinds.some(({ group, kind }) => (group ?? routeGroup) === routeGroup && kind === routeKind);
  if (kinds.length === 0 || isAllowed) return undefined;
  return `its allowedRoutes.kinds are ${kinds.map(({ kind }) => kind).join(' and ')}, add ${routeKind}`;
}

function namespaceChange(
  { allowedRoutes }: ObservedListener,
  { gatewayName, namespace, namespaceLabels }: ListenerInput,
): string | undefined {
  const { from = 'Same', selector } = allowedRoutes?.namespaces ?? {};
  const remedy = `so that namespace ${namespace} is allowed`;
  switch (from) {
    case 'All':
      return undefined;
    case 'Same':
      if (gatewayName.namespace === namespace) return undefined;
      return `its allowedRoutes.namespaces.from is Same, set All or Selector ${remedy}`;
    case 'Selector':
      if (selector && selects(selector, namespaceLabels)) return undefined;
      return `its allowedRoutes.namespaces.selector does not match, change it or the labels ${remedy}`;
    default:
      return `its allowedRoutes.namespaces.from is ${from}, set All or Selector ${remedy}`;
  }
}

function portChange(listener: ObservedListener, gateway: ObservedGateway): string | undefined {
  if (outsidePort(listener, annotationsOf(gateway)) !== undefined) return undefined;
  return `annotation ${outsidePortAnnotation} of the Gateway has no port for it, set 443 or ${listener.name}=443`;
}

function asSuitable(listener: ObservedListener, gateway: ObservedGateway): SuitableListener {
  const { name, port, hostname = '' } = listener;
  return { name, port: outsidePort(listener, annotationsOf(gateway)) ?? port, domain: hostname.slice('*.'.length) };
}

function annotationsOf({ metadata }: ObservedGateway): Readonly<Record<string, string>> {
  return metadata?.annotations ?? {};
}

/** In the Gateway API, unlike in certificates, a wildcard stands for any number of labels. */
function serves({ port, domain }: SuitableListener, preset: Partial<Endpoint>): boolean {
  const servesHost = preset.host === undefined || preset.host.toLowerCase().endsWith(`.${domain.toLowerCase()}`);
  return servesHost && (preset.port === undefined || preset.port === port);
}

function mismatch(suitable: readonly SuitableListener[], { host, port }: Partial<Endpoint>): string {
  const offered = suitable.map((listener) => `listener ${listener.name} serves *.${listener.domain}:${listener.port}`);
  const fixed =
    host !== undefined && port !== undefined ? formatEndpoint({ host, port }) : (host ?? `one with port ${port}`);
  return `does not serve the endpoint, which is ${fixed} and cannot change: ${offered.join(', ')}; give one of the listeners that port and a hostname that covers the endpoint, or say by annotation ${outsidePortAnnotation} of the Gateway that clients reach it there`;
}

function refuse(reason: Refusal['reason'], message: string): ListenerDecision {
  return { found: false, refusal: { known: false, reason, message } };
}

type Labels = Readonly<Record<string, string>>;
type Expression = k8s.LabelSelectorRequirement;

/** Whether a Kubernetes label selector matches these labels. An empty selector matches everything. */
export function selects({ matchLabels, matchExpressions }: k8s.LabelSelector, labels: Labels): boolean {
  return (
    Object.entries(matchLabels ?? {}).every(([key, value]) => labels[key] === value) &&
    itemsOf(matchExpressions).every((expression) => holds(expression, labels))
  );
}

function holds({ key, operator, ...given }: Expression, labels: Labels): boolean {
  const value = labels[key];
  const values = itemsOf(given.values);
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      // An unknown operator, which a later Kubernetes may add, matches nothing.
      return false;
  }
}

/**
 * The port at which clients reach a listener of a Gateway, such as 443 of the load balancer before a Traefik that listens at 8443: what
 * the Gateway's owner says for it by name, or for all of them; otherwise its own port. Undefined if that is no port.
 */
function outsidePort(
  { name, port }: { readonly name: string; readonly port: number },
  annotations: Readonly<Record<string, string>>,
): number | undefined {
  const entries = (annotations[outsidePortAnnotation] ?? '').split(/[\s,]+/).filter((entry) => entry !== '');
  const given = new Map(
    entries.map((entry) => {
      const [first = '', second, ...more] = entry.split('=');
      return second === undefined ? ['', first] : [first, more.length === 0 ? second : ''];
    }),
  );
  const text = given.get(name) ?? given.get('');
  if (text === undefined) return port;
  const outside = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return outside >= 1 && outside <= 65_535 ? outside : undefined;
}
