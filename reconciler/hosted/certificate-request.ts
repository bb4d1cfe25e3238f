import { CertificateSigningRequest } from '../../constructs/api/resources.ts';
import type { KubeObject } from '../kube/object.ts';

/** A CertificateSigningRequest of a hosted cluster. Who asks is what the API server saw, not what the asker says. */
export interface CertificateRequest extends KubeObject {
  readonly spec: {
    /** The PEM of a PKCS #10 request, base64. */
    readonly request: string;
    readonly signerName: string;
    readonly username?: string;
    readonly groups?: readonly string[];
    readonly usages?: readonly string[];
  };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status?: string }[];
    /** PEM of the chain that was issued, base64. */
    readonly certificate?: string;
  };
}

/** Whether nobody has approved or denied it yet. */
export function isPending({ status }: CertificateRequest): boolean {
  return (status?.conditions ?? []).length === 0;
}

/** What approves exactly this request: a new one of its name has another uid, and is refused. */
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
