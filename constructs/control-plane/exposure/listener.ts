import { type Endpoint, formatEndpoint } from '../../cluster/facts.ts';
import { itemsOf, textOf } from '../../cluster/foreign-values.ts';
import { outsidePortAnnotation } from '../../api/group.ts';
import { selects } from './label-selector.ts';
import { outsidePort } from './outside-port.ts';
import type { EndpointDecision, ObservedGateway, ObservedListener } from './strategy.ts';

/** The input for the choice of a listener. */
export interface ListenerQuestion {
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
export interface SuitableListener {
  readonly name: string;
  /** At which clients reach it. */
  readonly port: number;
  /** The part of its host name after the wildcard. */
  readonly domain: string;
}

export type ListenerChoice =
  | { readonly found: true; readonly listener: SuitableListener }
  | { readonly found: false; readonly refusal: Refusal };

type Refusal = Extract<EndpointDecision, { known: false }>;

/**
 * The listener of a Gateway to which routes attach: the first one in the order of its spec that serves the fixed part
 * of the endpoint. When there is none, the refusal names every listener of protocol TLS and what to change.
 */
export function chooseListener(question: ListenerQuestion): ListenerChoice {
  const { gateway, gatewayName, preset } = question;
  const listeners = itemsOf(gateway.spec?.listeners).filter(({ protocol }) => protocol === 'TLS');
  const judged = listeners.map((listener) => ({ listener, changes: necessaryChanges(listener, question) }));
  const suitable = judged
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
  const advice = judged.map(({ listener, changes }) => `listener ${listener.name}: ${changes.join(', ')}`);
  return refuse('GatewayListenerUnsuitable', `${name} has no suitable listener; ${advice.join('; ')}`);
}

/** The changes that a TLS listener needs before the control plane can use it, as instructions. */
function necessaryChanges(listener: ObservedListener, question: ListenerQuestion): string[] {
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
  { gatewayName, namespace, namespaceLabels }: ListenerQuestion,
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

function refuse(reason: Refusal['reason'], message: string): ListenerChoice {
  return { found: false, refusal: { known: false, reason, message } };
}
