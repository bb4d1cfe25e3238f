import type { CertificateSigningRequestObject } from '../../imports/kubernetes.ts';
import { issueCertificate, type KeyPair, validFor } from '../../reconciler/pki/issue.ts';

const dayMs = 24 * 3600_000;

/** A kubelet's request and the certificate it was issued: for its node's name, as the controller manager signs it. */
export async function issuedKubeletRequest(
  node: string,
  certificateAuthority: KeyPair,
  at: Date,
  changes: { readonly signerName?: string; readonly commonName?: string } = {},
): Promise<CertificateSigningRequestObject> {
  const { signerName = 'kubernetes.io/kube-apiserver-client-kubelet', commonName = `system:node:${node}` } = changes;
  const plan = { commonName, organizations: ['system:nodes'], usages: ['client' as const], hosts: [] };
  const { certificate } = await issueCertificate(plan, certificateAuthority, validFor(dayMs, at));
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: `csr-${node}-${at.getTime()}`, creationTimestamp: at.toISOString() },
    // A kubelet makes its first request with a bootstrap token.
    spec: { request: '', signerName, username: 'system:bootstrap:abcdef' },
    status: { certificate: Buffer.from(certificate).toString('base64') },
  };
}
