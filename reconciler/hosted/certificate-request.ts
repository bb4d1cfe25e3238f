import { groups } from '../../constructs/cluster/workload-identities.ts';
import { CertificateSigningRequest } from '../../constructs/api/resources.ts';
import type { KubeObject } from '../kube/object.ts';

/** A CertificateSigningRequest of a hosted cluster. The API server sets the requester, not the requester itself. */
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
    readonly conditions?: readonly { readonly type: string; readonly status?: string | undefined }[] | undefined;
    /** PEM of the issued chain, base64-encoded. */
    readonly certificate?: string | undefined;
  };
}

/** Longest request that is kept: that of a kubelet with twenty names has a tenth of it. */
export const longestRequest = 16 * 1024;

/**
 * What the operator keeps of a request, which users of the hosted cluster can fill: the request itself only while it is
 * pending and not longer than that of a kubelet, else an empty text.
 */
export function keptRequest(object: KubeObject): CertificateRequest {
  const given = object as CertificateRequest;
  const { name, uid, resourceVersion, creationTimestamp } = given.metadata;
  const { request, signerName, username, groups: member, usages } = given.spec;
  const { conditions, certificate } = given.status ?? {};
  return {
    apiVersion: given.apiVersion,
    kind: given.kind,
    metadata: { name, uid, resourceVersion, creationTimestamp },
    spec: {
      request: isPending(given) && request.length <= longestRequest ? request : '',
      signerName,
      username,
      groups: member?.filter((group) => group === groups.nodes),
      usages,
    },
    status: { conditions: conditions?.map(({ type, status }) => ({ type, status })), certificate },
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
