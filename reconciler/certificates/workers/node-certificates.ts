import type { CertificateSigningRequestObject } from '../../../imports/kubernetes.ts';
import {
  clientCertificateSignerAnnotation,
  servingCertificateSignerAnnotation,
} from '../../../constructs/api/group.ts';
import type { HostedCluster } from '../../../constructs/cluster/cluster.ts';
import { kubeletClientSigner, kubeletServingSigner } from '../../../constructs/cluster/workload-identities.ts';
import { readCertificate } from '../../pki/certificate.ts';

/** A kind of certificate that kubelets get from the cluster CA. Each is renewed independently. */
export interface NodeCertificate {
  readonly signerName: string;
  /** Annotation of the Node with the CA that has signed the newest one. */
  readonly annotation: string;
}

const client: NodeCertificate = {
  signerName: kubeletClientSigner,
  annotation: clientCertificateSignerAnnotation,
};
const serving: NodeCertificate = {
  signerName: kubeletServingSigner,
  annotation: servingCertificateSignerAnnotation,
};

/** The relevant kinds. Serving certificates are irrelevant if the API server trusts another CA for kubelets. */
export function nodeCertificatesOf({ spec }: Pick<HostedCluster, 'spec'>): readonly NodeCertificate[] {
  const isTrustOfUser = spec.deployment.apiServer.args?.['kubelet-certificate-authority'] !== undefined;
  return isTrustOfUser ? [client] : [client, serving];
}

const userPrefix = 'system:node:';

/**
 * The newest recent certificate of a kind for each node, PEM, by the name of the node. Answered requests are deleted
 * after an hour, so a node that is missing here may have any certificate.
 */
export function issuedToNodes(
  requests: readonly CertificateSigningRequestObject[],
  { signerName }: NodeCertificate,
): ReadonlyMap<string, string> {
  const newest = new Map<string, { readonly certificate: string; readonly order: string }>();
  for (const { spec, status, metadata } of requests) {
    if (spec?.signerName !== signerName || !status?.certificate) continue;
    const certificate = Buffer.from(status.certificate, 'base64').toString('utf8');
    const node = nodeOf(certificate);
    if (!node) continue;
    // Requests of the same second cannot be ordered, but all of them were signed within that second.
    const order = metadata.creationTimestamp ?? '';
    const known = newest.get(node);
    if (!known || order >= known.order) newest.set(node, { certificate, order });
  }
  return new Map([...newest].map(([node, { certificate }]) => [node, certificate]));
}

/** Uses the certificate, not the requester: a kubelet creates its first request with a bootstrap token. */
function nodeOf(certificate: string): string | undefined {
  try {
    const [user = ''] = readCertificate(certificate).commonNames;
    return user.startsWith(userPrefix) ? user.slice(userPrefix.length) : undefined;
  } catch {
    return undefined;
  }
}
