import {
  clientCertificateSignerAnnotation,
  servingCertificateSignerAnnotation,
} from '../../../constructs/api/group.ts';
import type { HostedCluster } from '../../../constructs/cluster/cluster.ts';
import { kubeletServingSigner } from '../../../constructs/cluster/workload-identities.ts';
import type { CertificateRequest } from '../../hosted/certificate-request.ts';
import { readCertificate } from '../../pki/certificate.ts';

/** A kind of certificate that kubelets have of the cluster's authority. Each is renewed in its own time. */
export interface NodeCertificate {
  readonly signerName: string;
  /** On the Node: which authority has signed the newest one. */
  readonly annotation: string;
}

const client: NodeCertificate = {
  signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
  annotation: clientCertificateSignerAnnotation,
};
const serving: NodeCertificate = {
  signerName: kubeletServingSigner,
  annotation: servingCertificateSignerAnnotation,
};

/** The kinds that matter: what kubelets serve with does not where the API server is told to trust somebody else's. */
export function nodeCertificatesOf({ spec }: Pick<HostedCluster, 'spec'>): readonly NodeCertificate[] {
  const isTrustOfUser = spec.deployment.apiServer.args?.['kubelet-certificate-authority'] !== undefined;
  return isTrustOfUser ? [client] : [client, serving];
}

const userPrefix = 'system:node:';

/**
 * The newest certificate of a kind that each node was given lately, PEM, by the name of the node. Answered requests are
 * cleared away after an hour: a node that is missing here may have any.
 */
export function issuedToNodes(
  requests: readonly CertificateRequest[],
  { signerName }: NodeCertificate,
): ReadonlyMap<string, string> {
  const newest = new Map<string, { readonly certificate: string; readonly order: string }>();
  for (const { spec, status, metadata } of requests) {
    if (spec.signerName !== signerName || !status?.certificate) continue;
    const certificate = Buffer.from(status.certificate, 'base64').toString('utf8');
    const node = nodeOf(certificate);
    if (!node) continue;
    // Several in a second are told apart by nobody: any of them was signed within that second.
    const order = metadata.creationTimestamp ?? '';
    const known = newest.get(node);
    if (!known || order >= known.order) newest.set(node, { certificate, order });
  }
  return new Map([...newest].map(([node, { certificate }]) => [node, certificate]));
}

/** The certificate tells, not who asked: at its first time a kubelet asks as somebody who holds a bootstrap token. */
function nodeOf(certificate: string): string | undefined {
  try {
    const [user = ''] = readCertificate(certificate).commonNames;
    return user.startsWith(userPrefix) ? user.slice(userPrefix.length) : undefined;
  } catch {
    return undefined;
  }
}
