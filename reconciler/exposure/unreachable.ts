import { type Endpoint, formatEndpoint } from '../../constructs/cluster/facts.ts';
import type { GatewayObject } from './gateway-object.ts';
import { messageOf } from '../kube/error-message.ts';
import { kubeErrorOf } from '../kube/errors.ts';

/** Where somebody tried to reach an API server. */
export interface Way {
  readonly endpoint: Endpoint;
  /** The Gateway that leads there; nothing for other ways in, or when it is gone. */
  readonly gateway?: GatewayObject | undefined;
}

/** Why nobody of ours answers at the endpoint, and what to do about it, from what the attempt failed with. */
export function describeUnreachable(error: unknown, way: Way): string {
  const at = formatEndpoint(way.endpoint);
  const code = codeOf(error);
  if (code !== undefined && unresolved.has(code)) {
    return `host ${way.endpoint.host} does not resolve (${code}): ${recordAdvice(way)}`;
  }
  if (code !== undefined && foreign.has(code)) {
    return `another server answers at ${at}: its certificate is not from the authority of this cluster (${code}); look for another route with this host name, and for something on the way that terminates TLS`;
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return `the server that answers at ${at} has a certificate for other names (${code}): look for another route with this host name`;
  }
  if (code !== undefined && closed.has(code)) {
    return `the connection to ${at} was closed before anybody answered (${code}): what listens there does not know the host name yet, or has no API server to pass it on to`;
  }
  if (code === 'ECONNREFUSED') return `nobody listens at ${at} (${code})`;
  const answer = kubeErrorOf(error)?.code;
  if (answer) return `the API server at ${at} answers, but is not ready: ${messageOf(error)}`;
  return `the API server does not answer at ${at}: ${messageOf(error)}`;
}

const unresolved = new Set(['ENOTFOUND', 'EAI_AGAIN', 'ENODATA']);
const closed = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'ERR_SSL_UNEXPECTED_EOF_WHILE_READING']);
/** What OpenSSL says of a certificate whose authority it was not told to trust. */
const foreign = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
]);

function recordAdvice({ endpoint, gateway }: Way): string {
  const addresses = gateway?.status?.addresses?.map(({ value }) => value) ?? [];
  const wildcards = gateway?.spec.listeners.flatMap(({ hostname }) => hostname ?? []) ?? [];
  // A host that is given may lie outside of every wildcard.
  const covering = wildcards.find((wildcard) => wildcard.startsWith('*.') && endpoint.host.endsWith(wildcard.slice(1)));
  const target =
    addresses.length > 0 ? `the Gateway's address ${addresses.join(' or ')}` : 'the address that clients are to use';
  return `create a DNS record for ${covering ?? endpoint.host} that points to ${target}`;
}

/** The innermost code: what wraps it has codes of its own that say less. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const inner = codeOf(error instanceof AggregateError ? error.errors[0] : error.cause);
  if (inner !== undefined) return inner;
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
