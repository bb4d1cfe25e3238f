import { readCertificate } from '../../pki/certificate.ts';
import type { CertificateRequest } from '../../hosted/certificate-request.ts';

/** Who signs what kubelets prove their identity with. */
const kubeletClientSigner = 'kubernetes.io/kube-apiserver-client-kubelet';
const userPrefix = 'system:node:';

/**
 * The newest client certificate that each node was given lately, PEM, by the name of the node. Answered requests are
 * cleared away after an hour: a node that is missing here may have any.
 */
export function issuedToNodes(requests: readonly CertificateRequest[]): ReadonlyMap<string, string> {
  const newest = new Map<string, { readonly certificate: string; readonly order: string }>();
  for (const request of requests) {
    const certificate = issuedBy(request);
    const node = certificate && nodeOf(certificate);
    if (!node) continue;
    // Several in a second are told apart by nobody: any of them was signed within that second.
    const order = request.metadata.creationTimestamp ?? '';
    const known = newest.get(node);
    if (!known || order >= known.order) newest.set(node, { certificate, order });
  }
  return new Map([...newest].map(([node, { certificate }]) => [node, certificate]));
}

function issuedBy({ spec, status }: CertificateRequest): string | undefined {
  if (spec.signerName !== kubeletClientSigner || !status?.certificate) return undefined;
  return Buffer.from(status.certificate, 'base64').toString('utf8');
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
