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

/** The service account that the controller manager makes first: when it is there, controllers work. */
export const firstServiceAccount = { namespace: 'default', name: 'default' } as const;

/** What grants rights. */
export const rbacResources: readonly Resource[] = [ClusterRole, ClusterRoleBinding, Role, RoleBinding];

/** What is watched in a hosted cluster. Rights too, although another identity writes them: somebody may take ours away. */
export function hostedInformers(
  applied: readonly AppliedKind[],
  options: Pick<InformerOptions, 'client' | 'clock' | 'onError'>,
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
    // Theirs are the labels of their Service, which is ours in this namespace only if it is `kubernetes`.
    new Informer({
      ...options,
      resource: EndpointSlice,
      namespace: kubernetesService.namespace,
      labelSelector: `${managedByLabel}=${fieldManager},kubernetes.io/service-name=${kubernetesService.name}`,
      metadataOnly: true,
    }),
    new Informer({ ...options, resource: CertificateSigningRequest }),
    // They are counted only, and report their status for ever.
    new Informer({ ...options, resource: Node, metadataOnly: true }),
  ];
}
