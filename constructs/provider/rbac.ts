import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import { rulesOf } from '../cluster/access-rules.ts';
import { groupOf, HostedControlPlane, HostedControlPlaneTemplate } from '../api/resources.ts';
import { managerAccess, ownNamespaceAccess } from './access.ts';
import { coreAggregationLabel, providerNames, rbacGroup } from '../cluster/provider-names.ts';

/** Rights of the operator, and the rights on our kinds that Cluster API needs. */
export class Rbac extends Construct {
  constructor(scope: Construct, id: string, { namespace }: { readonly namespace: string }) {
    super(scope, id);
    const { serviceAccount, managerRole, leaderElectionRole, clusterApiRole, bootstrapRole } = providerNames;
    const manager: k8s.Subject = { kind: 'ServiceAccount', name: serviceAccount, namespace };

    new k8s.KubeServiceAccount(this, 'service-account', {
      metadata: { name: serviceAccount, namespace },
      // The Deployment asks for the token itself; nothing else that names this account gets one by accident.
      automountServiceAccountToken: false,
    });

    new k8s.KubeClusterRole(this, 'manager-role', { metadata: { name: managerRole }, rules: rulesOf(managerAccess()) });
    new k8s.KubeClusterRoleBinding(this, 'manager-binding', {
      metadata: { name: managerRole },
      roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: managerRole },
      subjects: [manager],
    });

    const leaderElection = { name: leaderElectionRole, namespace };
    new k8s.KubeRole(this, 'leader-election-role', { metadata: leaderElection, rules: rulesOf(ownNamespaceAccess) });
    new k8s.KubeRoleBinding(this, 'leader-election-binding', {
      metadata: leaderElection,
      roleRef: { apiGroup: rbacGroup, kind: 'Role', name: leaderElectionRole },
      subjects: [manager],
    });

    // Core's own role covers our API group today; the contract asks for this one all the same.
    new k8s.KubeClusterRole(this, 'cluster-api-role', {
      metadata: { name: clusterApiRole, labels: { [coreAggregationLabel]: 'true' } },
      rules: [
        {
          apiGroups: [groupOf(HostedControlPlane)],
          resources: [HostedControlPlane.plural, HostedControlPlaneTemplate.plural],
          verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
        },
      ],
    });

    this.letKubeadmBootstrapRead(bootstrapRole);
  }

  /** The kubeadm bootstrap provider reads the control plane of every worker, and may read only its own kind of it. */
  private letKubeadmBootstrapRead(name: string): void {
    new k8s.KubeClusterRole(this, 'kubeadm-bootstrap-role', {
      metadata: { name },
      rules: [{ apiGroups: [groupOf(HostedControlPlane)], resources: [HostedControlPlane.plural], verbs: ['get'] }],
    });
    new k8s.KubeClusterRoleBinding(this, 'kubeadm-bootstrap-binding', {
      metadata: { name },
      roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name },
      // As a user, not as a ServiceAccount: clusterctl moves the latter to our own namespace.
      subjects: [{ apiGroup: rbacGroup, kind: 'User', name: kubeadmBootstrapUser }],
    });
  }
}

/** The kubeadm bootstrap provider where clusterctl installs it. */
const kubeadmBootstrapUser = 'system:serviceaccount:capi-kubeadm-bootstrap-system:capi-kubeadm-bootstrap-manager';
