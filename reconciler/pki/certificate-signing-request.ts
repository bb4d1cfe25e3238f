import type { CertificateSigningRequestObject } from '../../imports/kubernetes.ts';
import { CertificateSigningRequest } from '../../constructs/api/resources.ts';
import type { KubeObject } from '../kube/object.ts';

/** Longest request that is kept: that of a kubelet with twenty names has a tenth of it. */
export const longestRequest = 16 * 1024;

/** Whether it is neither approved nor denied yet. */
export function isPending({ status }: CertificateSigningRequestObject): boolean {
  return (status?.conditions ?? []).length === 0;
}

/** What is said about a request, for its requester. */
export interface Decision {
  readonly type: 'Approved' | 'Denied';
  /** In PascalCase. */
  readonly reason: string;
  readonly message: string;
}

/**
 * The patch that approves or denies exactly this request. A newer request with the same name has another UID and rejects
 * the patch.
 */
export function decisionPatch(
  { metadata }: CertificateSigningRequestObject,
  decision: Decision,
): KubeObject & { readonly status: object } {
  const { apiVersion, kind } = CertificateSigningRequest;
  return {
    apiVersion,
    kind,
    metadata: { name: metadata.name, ...(metadata.uid && { uid: metadata.uid }) },
    status: { conditions: [{ ...decision, status: 'True' }] },
  };
}

/** The patch that approves exactly this request. */
export function approval(
  request: CertificateSigningRequestObject,
  message: string,
): KubeObject & { readonly status: object } {
  return decisionPatch(request, { type: 'Approved', reason: 'HostedControlPlaneApprove', message });
}
