import type { ClientCertificateRequest } from '../../reconciler/signer/request.ts';
import { kubeconfigSigner, kubeconfigUsages, requestLabels } from '../../constructs/api/kubeconfig-request.ts';
import { encodedRequest } from './encoded-request.ts';

/** A request of Jane, who is a developer, for her own certificate for Cluster `team-a/prod`, as the API server stores it. */
export async function clientCertificateRequest(
  changes: Partial<ClientCertificateRequest['spec']> = {},
  labels: Readonly<Record<string, string>> = requestLabels('team-a', 'prod'),
): Promise<ClientCertificateRequest> {
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'csr-1', uid: 'uid-of-csr-1', creationTimestamp: '2026-11-21T11:59:30Z', labels },
    spec: {
      signerName: kubeconfigSigner,
      request: await encodedRequest([{ CN: ['jane'] }]),
      usages: kubeconfigUsages,
      username: 'jane',
      groups: ['developers', 'system:authenticated'],
      ...changes,
    },
  };
}
