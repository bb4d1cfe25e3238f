import { fieldManager } from '../../constructs/api/group.ts';
import {
  CertificateSigningRequest,
  ClusterRole,
  ClusterRoleBinding,
  EndpointSlice,
  Node,
  type Resource,
  Role,
  RoleBinding,
  ServiceAccount,
} from '../../constructs/api/resources.ts';
import { managedByLabel } from '../../constructs/cluster/labels.ts';
import { kubernetesService } from '../../constructs/workload/in-cluster-access/kubernetes-service.ts';
import type { AppliedKind } from '../../constructs/workload/applied-kinds.ts';
import { Informer, type InformerOptions } from '../kube/informer.ts';

/** The service account that the controller manager creates first. When it exists, controllers work. */
export const firstServiceAccount = { namespace: 'default', name: 'default' } as const;

/** Resources that grant permissions. */
export const rbacResources: readonly Resource[] = [ClusterRole, ClusterRoleBinding, Role, RoleBinding];

/**
 * The informers of a hosted cluster. They include RBAC objects, although another identity writes them, because users
 * may remove the operator's permissions.
 */
export function hostedInformers(
  applied: readonly AppliedKind[],
  options: Pick<InformerOptions, 'client' | 'clock' | 'onError' | 'onRestored'>,
): Informer[] {
  const ours = (resource: Resource, namespace?: string) =>
    new Informer({
      ...options,
      resource,
      namespace,
      fieldManager,
      labelSelector: `${managedByLabel}=${fieldManager}`,
    });
  return [
    ...rbacResources.map((resource) => ours(resource)),
    ...applied.map(({ resource, namespace }) => ours(resource, namespace)),
    new Informer({
      ...options,
      resource: ServiceAccount,
      namespace: firstServiceAccount.namespace,
      fieldSelector: `metadata.name=${firstServiceAccount.name}`,
    }),
    // EndpointSlices have the labels of their Service. In this namespace only the Service `kubernetes` belongs to the
    // operator.
    new Informer({
      ...options,
      resource: EndpointSlice,
      namespace: kubernetesService.namespace,
      labelSelector: `${managedByLabel}=${fieldManager},kubernetes.io/service-name=${kubernetesService.name}`,
      metadataOnly: true,
    }),
    new Informer({ ...options, resource: CertificateSigningRequest }),
    // Metadata only, because Nodes are only counted and report their status continuously.
    new Informer({ ...options, resource: Node, metadataOnly: true }),
  ];
}
