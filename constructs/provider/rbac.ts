import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import { type Access, rulesOf } from '../cluster/access-rules.ts';
import { definitions } from '../api/crd.ts';
import { groupOf, HostedControlPlane } from '../api/resources.ts';
import { controlPlaneAccess, managerAccess, ownNamespaceAccess, sharedAccess } from './access.ts';
import { backupIdentityAccess, kubeconfigAccess, kubeconfigRequestAccess } from './granted-access.ts';
import {
  coreAggregationLabel,
  metricsPath,
  providerNames,
  rbacGroup,
  sharedRoleOf,
} from '../cluster/provider-names.ts';

export interface RbacProps {
  /** Namespace of the operator. */
  readonly namespace: string;
  /** The only namespace of control planes. @default all */
  readonly watchNamespace?: string | undefined;
}

/** Permissions of the operator, and the permissions for the provider's kinds that Cluster API needs. */
export class Rbac extends Construct {
  constructor(scope: Construct, id: string, { namespace, watchNamespace }: RbacProps) {
    super(scope, id);
    const { serviceAccount, managerRole, leaderElectionRole, clusterApiRole, bootstrapRole, backupIdentityRole } =
      providerNames;
    const manager: k8s.Subject = { kind: 'ServiceAccount', name: serviceAccount, namespace };

    new k8s.KubeServiceAccount(this, 'service-account', {
      metadata: { name: serviceAccount, namespace },
      // The Deployment mounts the token explicitly. Other pods with this account do not get one by accident.
      automountServiceAccountToken: false,
    });

    if (watchNamespace === undefined) {
      this.grantEverywhere('manager', managerRole, managerAccess(), manager);
    } else {
      this.grantIn(watchNamespace, 'manager', managerRole, controlPlaneAccess(), manager);
      this.grantEverywhere('shared', sharedRoleOf(watchNamespace), sharedAccess(watchNamespace), manager);
    }
    this.grantIn(namespace, 'leader-election', leaderElectionRole, ownNamespaceAccess, manager);

    // The role of Cluster API's core already covers this API group, but the contract requires this role.
    new k8s.KubeClusterRole(this, 'cluster-api-role', {
      metadata: { name: clusterApiRole, labels: { [coreAggregationLabel]: 'true' } },
      rules: [
        {
          apiGroups: [groupOf(HostedControlPlane)],
          resources: definitions.map(({ spec }) => spec.names.plural),
          verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
        },
      ],
    });

    // Nothing binds it: administrators do, in the namespaces where it is needed.
    new k8s.KubeClusterRole(this, 'backup-identity-role', {
      metadata: { name: backupIdentityRole },
      rules: rulesOf(backupIdentityAccess),
    });

    // Nothing binds them: an administrator binds the first one in namespaces, and the second one in the cluster.
    new k8s.KubeClusterRole(this, 'kubeconfig-role', {
      metadata: { name: providerNames.kubeconfigRole },
      rules: rulesOf(kubeconfigAccess),
    });
    new k8s.KubeClusterRole(this, 'kubeconfig-request-role', {
      metadata: { name: providerNames.kubeconfigRequestRole },
      rules: rulesOf(kubeconfigRequestAccess),
    });

    // Nothing binds it either: dist/monitoring.yaml does, or an administrator for a Prometheus of their own.
    new k8s.KubeClusterRole(this, 'metrics-reader-role', {
      metadata: { name: providerNames.metricsReaderRole },
      rules: [{ nonResourceUrLs: [metricsPath], verbs: ['get'] }],
    });

    this.letKubeadmBootstrapRead(bootstrapRole);
  }

  private grantEverywhere(id: string, name: string, access: readonly Access[], subject: k8s.Subject): void {
    new k8s.KubeClusterRole(this, `${id}-role`, { metadata: { name }, rules: rulesOf(access) });
    new k8s.KubeClusterRoleBinding(this, `${id}-binding`, {
      metadata: { name },
      roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name },
      subjects: [subject],
    });
  }

  private grantIn(namespace: string, id: string, name: string, access: readonly Access[], subject: k8s.Subject): void {
    const metadata = { name, namespace };
    new k8s.KubeRole(this, `${id}-role`, { metadata, rules: rulesOf(access) });
    new k8s.KubeRoleBinding(this, `${id}-binding`, {
      metadata,
      roleRef: { apiGroup: rbacGroup, kind: 'Role', name },
      subjects: [subject],
    });
  }

  /**
   * The kubeadm bootstrap provider reads the control plane of every worker. Its own role only covers its own kind of
   * control plane.
   */
  private letKubeadmBootstrapRead(name: string): void {
    new k8s.KubeClusterRole(this, 'kubeadm-bootstrap-role', {
      metadata: { name },
      rules: [{ apiGroups: [groupOf(HostedControlPlane)], resources: [HostedControlPlane.plural], verbs: ['get'] }],
    });
    new k8s.KubeClusterRoleBinding(this, 'kubeadm-bootstrap-binding', {
      metadata: { name },
      roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name },
      // As a user, not as a ServiceAccount, because clusterctl moves the latter to the namespace of this provider.
      subjects: [{ apiGroup: rbacGroup, kind: 'User', name: kubeadmBootstrapUser }],
    });
  }
}

/** The kubeadm bootstrap provider where clusterctl installs it. */
const kubeadmBootstrapUser = 'system:serviceaccount:capi-kubeadm-bootstrap-system:capi-kubeadm-bootstrap-manager';
