import { fieldManager } from '../../../constructs/api/group.ts';
import {
  apiServerSlice,
  CertificateSigningRequest,
  ClusterRole,
  ClusterRoleBinding,
  DaemonSet,
  Deployment,
  Endpoints,
  EndpointSlice,
  Node,
  type Resource,
  Role,
  RoleBinding,
  ServiceAccount,
} from '../../../constructs/api/resources.ts';
import { managedByLabel } from '../../../constructs/cluster/labels.ts';
import { nodeSigners } from '../../../constructs/cluster/workload-identities.ts';
import { kubernetesService } from '../../../constructs/workload/in-cluster-access/kubernetes-service.ts';
import type { AppliedKind } from '../../../constructs/workload/applied-kinds.ts';
import { Informer, type InformerOptions } from '../../kube/informer.ts';
import { keptApplied, keptIdentity, keptRequest, keptNode } from './kept-objects.ts';

/** The service account that the controller manager creates first. When it exists, controllers work. */
export const firstServiceAccount = { namespace: 'default', name: 'default' } as const;

/** Resources that grant permissions. */
export const rbacResources: readonly Resource[] = [ClusterRole, ClusterRoleBinding, Role, RoleBinding];

/**
 * The informers of a hosted cluster. They include RBAC objects, although another identity writes them, because users
 * may remove the operator's permissions. Watched is what a condition or a node waits for. What else the operator has applied is only
 * listed: another client seldom changes it but the addresses of the Service `kubernetes`, which an API server that ends takes out; and each watch of a hosted cluster costs 12 KiB and a bookmark a minute.
 */
export function hostedInformers(
  applied: readonly AppliedKind[],
  common: Pick<InformerOptions, 'client' | 'clock' | 'onError' | 'onRestored' | 'onResumed' | 'room'>,
): Informer[] {
  const appliedInformer = (resource: Resource, namespace?: string, more: Pick<InformerOptions, 'mayBeUnserved'> = {}) =>
    new Informer({
      ...common,
      ...more,
      isListed: ![Deployment, DaemonSet, Endpoints].includes(resource),
      resource,
      namespace,
      fieldManager,
      keep: keptApplied,
      labelSelector: `${managedByLabel}=${fieldManager}`,
    });
  return [
    ...rbacResources.map((resource) => appliedInformer(resource)),
    // Arguments of the user, such as emulated-version, may end an API under applied objects.
    ...applied
      .filter(({ resource }) => resource !== EndpointSlice)
      .map(({ resource, namespace }) => appliedInformer(resource, namespace, { mayBeUnserved: true })),
    new Informer({
      ...common,
      resource: ServiceAccount,
      namespace: firstServiceAccount.namespace,
      fieldSelector: `metadata.name=${firstServiceAccount.name}`,
      keep: keptIdentity,
    }),
    // A controller gives EndpointSlices the labels of their Service. In this namespace only the Service `kubernetes` belongs
    // to the operator.
    new Informer({
      ...common,
      resource: EndpointSlice,
      namespace: kubernetesService.namespace,
      labelSelector: [
        `${managedByLabel}=${fieldManager}`,
        `kubernetes.io/service-name=${kubernetesService.name}`,
        'endpointslice.kubernetes.io/managed-by=endpointslice-controller.k8s.io',
      ].join(),
      metadataOnly: true,
      isListed: true,
      keep: keptIdentity,
    }),
    new Informer({
      ...common,
      resource: EndpointSlice,
      namespace: kubernetesService.namespace,
      fieldSelector: `metadata.name=${apiServerSlice}`,
      fieldManager,
      keep: keptApplied,
    }),
    ...nodeSigners.map(
      (signer) =>
        new Informer({
          ...common,
          resource: CertificateSigningRequest,
          fieldSelector: `spec.signerName=${signer}`,
          keep: keptRequest,
        }),
    ),
    // Metadata only, because Nodes are only counted and report their status continuously.
    new Informer({ ...common, resource: Node, metadataOnly: true, keep: keptNode }),
  ];
}
