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
