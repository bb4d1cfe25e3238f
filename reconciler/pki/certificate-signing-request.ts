import { CertificateSigningRequest } from '../../constructs/api/resources.ts';
import type { KubeObject } from '../kube/object.ts';

/** A CertificateSigningRequest. The API server sets the requester, not the requester itself. */
export interface CertificateRequest extends KubeObject {
  readonly spec: {
    /** The PEM of a PKCS #10 request, base64-encoded. */
    readonly request: string;
    readonly signerName: string;
    readonly username?: string | undefined;
    readonly groups?: readonly string[] | undefined;
    readonly usages?: readonly string[] | undefined;
  };
  readonly status?: {
    readonly conditions?: readonly RequestCondition[] | undefined;
    /** PEM of the issued chain, base64-encoded. */
    readonly certificate?: string | undefined;
  };
}

interface RequestCondition {
  /** `Approved`, `Denied` or `Failed`. */
  readonly type: string;
  readonly status?: string | undefined;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
}

/** Longest request that is kept: that of a kubelet with twenty names has a tenth of it. */
export const longestRequest = 16 * 1024;

/** Whether it is neither approved nor denied yet. */
export function isPending({ status }: CertificateRequest): boolean {
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
  { metadata }: CertificateRequest,
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
export function approval(request: CertificateRequest, message: string): KubeObject & { readonly status: object } {
  return decisionPatch(request, { type: 'Approved', reason: 'HostedControlPlaneApprove', message });
}
