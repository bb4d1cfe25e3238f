import { kubeconfigSubresource } from '../api/kubeconfig-request.ts';
import { CertificateSigningRequest, HostedControlPlane, ServiceAccount } from '../api/resources.ts';
import type { Access } from '../cluster/access-rules.ts';

// Apart from the permissions of the operator, for which a control plane is rendered: `hcp` names these, and answers at once.

/**
 * Permissions that an administrator grants to the operator in the namespaces whose HostedControlPlanes use
 * `etcd.backup.webIdentity`. A token of any ServiceAccount may be worth more than all other permissions here.
 */
export const backupIdentityAccess: readonly Access[] = [
  { resource: ServiceAccount, verbs: ['get'], why: 'reading which HostedControlPlanes may use its tokens' },
  { resource: ServiceAccount, subresource: 'token', verbs: ['create'], why: 'authenticating to a backup store' },
];

/** Permissions of a person who requests kubeconfigs by `hcp kubeconfig`, in the namespaces of the control planes. */
export const kubeconfigAccess: readonly Access[] = [
  { resource: HostedControlPlane, verbs: ['get', 'list', 'watch'], why: 'finding the endpoint' },
  {
    resource: HostedControlPlane,
    subresource: kubeconfigSubresource,
    verbs: ['create'],
    why: 'a kubeconfig with the own user name and own groups',
  },
];

/** What such a person needs in the whole management cluster: requests have no namespace, and contain nothing secret. */
export const kubeconfigRequestAccess: readonly Access[] = [
  { resource: CertificateSigningRequest, verbs: ['get', 'create'], why: 'requesting a certificate from the operator' },
];
