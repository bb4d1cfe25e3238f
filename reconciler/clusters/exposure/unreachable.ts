import { type Endpoint, formatEndpoint } from '../../../constructs/cluster/facts.ts';
import { itemsOf, textOf } from '../../../constructs/cluster/foreign-values.ts';
import type { GatewayObject } from './gateway-object.ts';
import { InsideError } from '../network/destinations.ts';
import { messageOf } from '../../kube/error-message.ts';
import { kubeErrorOf } from '../../kube/errors.ts';

/** The endpoint that was probed. */
export interface Way {
  readonly endpoint: Endpoint;
  /** The Gateway that leads there; undefined for other exposure strategies, or when it does not exist. */
  readonly gateway?: GatewayObject | undefined;
}

/** The cause of a failed probe and the remedy, derived from the error. */
export function describeUnreachable(error: unknown, way: Way): string {
  const at = formatEndpoint(way.endpoint);
  const code = codeOf(error);
  if (error instanceof InsideError) return `no API server of this cluster answers at ${at}: ${error.message}`;
  if (code !== undefined && unresolved.has(code)) {
    return `host ${way.endpoint.host} does not resolve (${code}): ${recordAdvice(way)}`;
  }
  if (code !== undefined && foreign.has(code)) {
    return `another server answers at ${at}: the CA of this cluster did not sign its certificate (${code}); check for another route with this host name, and for a proxy on the path that terminates TLS`;
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return `the server that answers at ${at} has a certificate for other names (${code}): check for another route with this host name`;
  }
  if (code !== undefined && closed.has(code)) {
    return `the connection to ${at} was closed without an answer (${code}): the server there does not route this host name yet, or has no ready API server as backend`;
  }
  if (code === 'ECONNREFUSED')
    return `no server listens at ${at} (${code}): check the load balancer, gateway or ingress controller at this address`;
  const answer = kubeErrorOf(error)?.code;
  if (answer) return `the API server at ${at} answers, but is not ready: ${messageOf(error)}`;
  return `the API server does not answer at ${at}: ${messageOf(error)}`;
}

const unresolved = new Set(['ENOTFOUND', 'EAI_AGAIN', 'ENODATA']);
const closed = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'ERR_SSL_UNEXPECTED_EOF_WHILE_READING']);
/** Error codes of OpenSSL for a certificate whose CA is not trusted. */
const foreign = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
]);

function recordAdvice({ endpoint, gateway }: Way): string {
  const addresses = itemsOf(gateway?.status?.addresses).map(({ value }) => value);
  const wildcards = itemsOf(gateway?.spec?.listeners).flatMap(({ hostname }) => textOf(hostname) ?? []);
  // A host name that the user sets may match no wildcard.
  const covering = wildcards.find((wildcard) => wildcard.startsWith('*.') && endpoint.host.endsWith(wildcard.slice(1)));
  const target =
    addresses.length > 0 ? `the Gateway's address ${addresses.join(' or ')}` : 'the address that clients use';
  return `create a DNS record for ${covering ?? endpoint.host} that points to ${target}`;
}

/** The innermost code, because codes of wrapping errors are less specific. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const inner = codeOf(error instanceof AggregateError ? error.errors[0] : error.cause);
  if (inner !== undefined) return inner;
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
