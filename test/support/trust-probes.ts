import type { SecretObject } from '../../imports/kubernetes.ts';
import { Secret } from '../../constructs/api/resources.ts';
import { ports } from '../../constructs/cluster/ports.ts';
import { isSignedBy, readCertificate } from '../../reconciler/pki/certificate.ts';
import type { KeyPair } from '../../reconciler/pki/issue.ts';
import { splitCertificates } from '../../reconciler/pki/pem.ts';
import { valueOf } from '../../reconciler/pki/secret.ts';
import type { TrustProbes } from '../../reconciler/certificates/ca/trust-probes.ts';
import type { Reader } from '../../reconciler/clusters/management/view.ts';

/** Servers that reload every Secret of a Cluster as soon as it is written. @param cluster by default the sample */
export function probesOf(management: Pick<Reader, 'get'>, cluster = 'c1'): TrustProbes {
  const certificateOf = (secret: string) => valueOf(management.get<SecretObject>(Secret, secret), 'tls.crt') ?? '';
  const trusts = (secret: string, { certificate }: KeyPair) =>
    splitCertificates(certificateOf(secret)).some((certificateAuthority) =>
      isSignedBy(certificate, certificateAuthority),
    );
  return {
    async userOf(_, client, asUser) {
      if (!trusts(asUser === undefined ? `${cluster}-ca` : `${cluster}-proxy`, client)) return undefined;
      return asUser ?? readCertificate(client.certificate).commonNames[0];
    },
    isAdmitted: async (_, client) => trusts(`${cluster}-etcd`, client),
    servedBy: async ({ port }) => certificateOf(`${cluster}-${servedAt[port] ?? 'apiserver'}`),
  };
}

const servedAt: Readonly<Record<number, string>> = {
  [ports.etcdClient]: 'etcd-server',
  [ports.etcdPeer]: 'etcd-peer',
  [ports.konnectivityAgent]: 'konnectivity-server',
  [ports.tunnel]: 'tunnel',
};
