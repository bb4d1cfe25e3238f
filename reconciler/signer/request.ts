import type { CertificateSigningRequestObject, CertificateSigningRequestSpec } from '../../imports/kubernetes.ts';
import { clusterNameLabel } from '../../constructs/api/group.ts';
import { requestLabels, requestNamespaceLabel } from '../../constructs/api/kubeconfig-request.ts';
import { longestRequest } from '../pki/certificate-signing-request.ts';
import type { KubeObject } from '../kube/object.ts';

/** A CertificateSigningRequest of the management cluster. Its API server sets who the requester is, and no client changes that. */
export interface ClientCertificateRequest extends CertificateSigningRequestObject {
  readonly spec: CertificateSigningRequestSpec;
  /** Too many others of its requester, or for its namespace, wait. Nothing else is known of it. */
  readonly isBeyond?: true;
}

/** More usages than any request has that is signed. */
const mostUsages = 20;

/**
 * What the operator keeps of a request, whose creator can fill all of it: of one that it has answered only that, and no content that is
 * longer than what it signs.
 */
export function kept(object: KubeObject): ClientCertificateRequest {
  const { apiVersion, kind, metadata, spec = {}, status = {} } = object as CertificateSigningRequestObject;
  const { name, uid, resourceVersion, creationTimestamp } = metadata;
  const { signerName } = spec;
  if (isAnswered({ status })) {
    const conditions = status.conditions?.map(({ type }) => ({ type }));
    // Of a certificate, that there is one.
    const answer = { conditions, certificate: status.certificate?.slice(0, 1) };
    return {
      apiVersion,
      kind,
      metadata: { name, uid, resourceVersion },
      spec: { signerName, request: '' },
      status: answer,
    };
  }
  const named = clusterOf(object);
  const { username, groups, extra, usages, expirationSeconds } = spec;
  const { request = '' } = spec;
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      uid,
      resourceVersion,
      creationTimestamp,
      labels: named && requestLabels(named.namespace, named.cluster),
    },
    spec: {
      signerName,
      request: request.length > longestRequest ? '' : request,
      username,
      uid: spec.uid,
      groups,
      extra,
      usages: usages?.slice(0, mostUsages),
      expirationSeconds,
    },
    status,
  };
}

/** Whether it is signed or denied. An approved one without a certificate is not: the operator ended between both. */
export function isAnswered({ status = {} }: Pick<ClientCertificateRequest, 'status'>): boolean {
  const isRefused = status.conditions?.some(({ type }) => type === 'Denied' || type === 'Failed');
  return isRefused === true || (status.certificate ?? '') !== '';
}

/** A Cluster of the management cluster. */
export interface ClusterName {
  readonly namespace: string;
  readonly cluster: string;
}

/** The Cluster that a request names; undefined if a label is missing. */
export function clusterOf({ metadata: { labels } }: KubeObject): ClusterName | undefined {
  const [namespace, cluster] = [labels?.[requestNamespaceLabel], labels?.[clusterNameLabel]];
  return namespace && cluster ? { namespace, cluster } : undefined;
}
