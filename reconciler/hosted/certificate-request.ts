import { CertificateSigningRequest } from '../../constructs/api/resources.ts';
import type { KubeObject } from '../kube/object.ts';

/** A CertificateSigningRequest of a hosted cluster. The API server sets the requester, not the requester itself. */
export interface CertificateRequest extends KubeObject {
  readonly spec: {
    /** The PEM of a PKCS #10 request, base64-encoded. */
    readonly request: string;
    readonly signerName: string;
    readonly username?: string;
    readonly groups?: readonly string[];
    readonly usages?: readonly string[];
  };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status?: string }[];
    /** PEM of the issued chain, base64-encoded. */
    readonly certificate?: string;
  };
}

/** Whether it is neither approved nor denied yet. */
export function isPending({ status }: CertificateRequest): boolean {
  return (status?.conditions ?? []).length === 0;
}

/**
 * The patch that approves exactly this request. A newer request with the same name has another UID and rejects the
 * patch.
 */
export function approval({ metadata }: CertificateRequest, message: string): KubeObject & { readonly status: object } {
  const { apiVersion, kind } = CertificateSigningRequest;
  const condition = { type: 'Approved', status: 'True', reason: 'HostedControlPlaneApprove', message };
  return {
    apiVersion,
    kind,
    metadata: { name: metadata.name, ...(metadata.uid && { uid: metadata.uid }) },
    status: { conditions: [condition] },
  };
}
