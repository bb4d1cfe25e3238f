/** Where one member answers, and what its certificate must be for. */
export interface MemberEndpoint {
  /** Name of the member, for messages. */
  readonly name: string;
  /** Host and port; may be an address that no certificate names. */
  readonly address: string;
  readonly serverName: string;
}

/** PEM of the authority to trust, and of the certificate and key to present. */
export interface EtcdCredentials {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}
