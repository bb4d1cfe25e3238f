import { Secret } from '../../constructs/api/resources.ts';
import { ports } from '../../constructs/cluster/ports.ts';
import { isSignedBy, readCertificate } from '../../reconciler/pki/certificate.ts';
import type { KeyPair } from '../../reconciler/pki/issue.ts';
import { splitCertificates } from '../../reconciler/pki/pem.ts';
import { type SecretObject, valueOf } from '../../reconciler/pki/secret.ts';
import type { TrustProbes } from '../../reconciler/rotation/ca/trust-probes.ts';
import type { Reader } from '../../reconciler/management/view.ts';

/** Servers that reload every Secret of the sample cluster as soon as it is written. */
export function probesOf(management: Pick<Reader, 'get'>): TrustProbes {
  const certificateOf = (secret: string) => valueOf(management.get<SecretObject>(Secret, secret), 'tls.crt') ?? '';
  const trusts = (secret: string, { certificate }: KeyPair) =>
    splitCertificates(certificateOf(secret)).some((certificateAuthority) =>
      isSignedBy(certificate, certificateAuthority),
    );
  return {
    async userOf(_, client, asUser) {
      if (!trusts(asUser === undefined ? 'c1-ca' : 'c1-proxy', client)) return undefined;
      return asUser ?? readCertificate(client.certificate).commonNames[0];
    },
    isAdmitted: async (_, client) => trusts('c1-etcd', client),
    servedBy: async ({ port }) => certificateOf(servedAt[port] ?? 'c1-apiserver'),
  };
}

const servedAt: Readonly<Record<number, string>> = {
  [ports.etcdClient]: 'c1-etcd-server',
  [ports.etcdPeer]: 'c1-etcd-peer',
  [ports.konnectivityAgent]: 'c1-konnectivity-server',
  [ports.tunnel]: 'c1-tunnel',
};
