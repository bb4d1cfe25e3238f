import { createSecureContext, type SecureContext } from 'node:tls';

/** The address of one member, and the name in its certificate. */
export interface MemberEndpoint {
  /** Name of the member, for messages. */
  readonly name: string;
  /** Host and port; may be an address that no certificate contains. */
  readonly address: string;
  /** Host and port for HTTP, where it has one of its own. */
  readonly httpAddress?: string | undefined;
  readonly serverName: string;
}

/** PEM of the CA to trust, and of the certificate and key to present. */
export interface EtcdCredentials {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

const contexts = new WeakMap<EtcdCredentials, SecureContext>();

/**
 * Settings of TLS that trust exactly the given CAs, including a CA that an issuer has signed. Without `allowPartialTrustChain`, OpenSSL
 * requires the issuer's certificate too, and would trust everything else that the issuer signs. Reading a key takes as long as a
 * handshake, so that it happens once.
 */
export function secureContextOf(credentials: EtcdCredentials): SecureContext {
  const { ca, cert, key } = credentials;
  const known = contexts.get(credentials) ?? createSecureContext({ ca, cert, key, allowPartialTrustChain: true });
  contexts.set(credentials, known);
  return known;
}
