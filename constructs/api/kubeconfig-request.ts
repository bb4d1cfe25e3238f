import { clusterNameLabel, group } from './group.ts';

/**
 * Name of the signer that the operator is in the management cluster: of client certificates for hosted clusters. A client, such as
 * `hcp kubeconfig`, creates a CertificateSigningRequest of `certificates.k8s.io/v1` with:
 * * the labels {@link clusterNameLabel} and {@link requestNamespaceLabel}, which name the Cluster;
 * * `usages`: `client auth` and `digital signature`, with an RSA key also `key encipherment`;
 * * `expirationSeconds`: {@link kubeconfigLifetimes};
 * * `request`: PKCS #10, whose subject has one CN, the user name, and an O for each group, and which has nothing else.
 *
 * The operator approves and signs, or denies with a reason. `status.certificate` is the client certificate, and after it all CA
 * certificates by which clients verify the API server.
 */
export const kubeconfigSigner = `${group}/kubeconfig`;

/** On such a request: the namespace of the Cluster, whose name is the value of {@link clusterNameLabel}. */
export const requestNamespaceLabel = `${group}/namespace`;

/** Labels of a request for a client certificate of this Cluster. */
export function requestLabels(namespace: string, cluster: string): Readonly<Record<string, string>> {
  return { [clusterNameLabel]: cluster, [requestNamespaceLabel]: namespace };
}

/** What such a request asks a certificate to be used for. */
export const kubeconfigUsages: readonly string[] = ['client auth', 'digital signature'];

/**
 * Lifetimes that a request may ask for, as durations. The API server refuses a shorter one for every signer; a certificate cannot be
 * revoked before it expires, so that a longer one is refused.
 */
export const kubeconfigLifetimes = { shortest: '10m', unset: '8h', longest: '168h' } as const;

/**
 * Subresource of HostedControlPlanes on which the requester needs the verb `create`; for another user name, or for groups that are not
 * the requester's own, `impersonate` too. It exists for permissions only.
 */
export const kubeconfigSubresource = 'kubeconfig';
