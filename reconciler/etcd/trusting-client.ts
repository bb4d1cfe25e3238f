import { createSecureContext, type SecureContext } from 'node:tls';
import { Etcd3, type IOptions } from 'etcd3';
import type { EtcdCredentials } from './member-endpoint.ts';

/** Where etcd3 keeps what it dials with, and gRPC in it what it verifies by. Neither has an option for it. */
interface Dialling {
  readonly hosts: readonly { readonly channelCredentials: { secureContext: SecureContext } }[];
}

/**
 * A client that trusts exactly the authorities it is given, also one that an issuer has signed: without being told,
 * OpenSSL wants that issuer's certificate too, and would trust everything else it signs.
 */
export class TrustingEtcd3 extends Etcd3 {
  constructor(options: IOptions, { ca, cert, key }: EtcdCredentials) {
    const credentials = {
      rootCertificate: Buffer.from(ca),
      certChain: Buffer.from(cert),
      privateKey: Buffer.from(key),
    };
    super({ ...options, credentials });
    const secureContext = createSecureContext({ ca, cert, key, allowPartialTrustChain: true });
    const { hosts } = this.pool as unknown as Dialling;
    for (const { channelCredentials } of hosts) channelCredentials.secureContext = secureContext;
  }
}
