import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import { users } from './identities.ts';

const rbacGroup = 'rbac.authorization.k8s.io';

/** Rights of the identities a hosted control plane uses in its own cluster. None of them is in `system:masters`. */
export class Rbac extends Construct {
  constructor(scope: Construct, id: string) {
    super(scope, id);

    // The API server reaches kubelets for logs, exec and port-forward.
    this.bindClusterRole('kubelet-client', 'system:kubelet-api-admin', users.kubeletClient);

    // The konnectivity server reviews the tokens of agents and counts its replicas by Leases.
    this.bindClusterRole('konnectivity-server', 'system:auth-delegator', users.konnectivityServer);
    const leases = { name: 'hosted-control-plane:konnectivity-server', namespace: 'kube-system' };
    new k8s.KubeRole(this, 'konnectivity-leases', {
      metadata: leases,
      rules: [
        {
          apiGroups: ['coordination.k8s.io'],
          resources: ['leases'],
          verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
        },
      ],
    });
    new k8s.KubeRoleBinding(this, 'konnectivity-leases-binding', {
      metadata: leases,
      roleRef: { apiGroup: rbacGroup, kind: 'Role', name: leases.name },
      subjects: [user(users.konnectivityServer)],
    });

    // Our own client asks whether controllers work: they have when the default service account is there.
    new k8s.KubeClusterRole(this, 'controller', {
      metadata: { name: 'hosted-control-plane:controller' },
      rules: [{ apiGroups: [''], resources: ['serviceaccounts'], resourceNames: ['default'], verbs: ['get'] }],
    });
    this.bindClusterRole('controller-binding', 'hosted-control-plane:controller', users.controller);
  }

  private bindClusterRole(id: string, role: string, name: string): void {
    new k8s.KubeClusterRoleBinding(this, `${id}-user`, {
      metadata: { name: `hosted-control-plane:${name.replace(/^system:/, '')}` },
      roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: role },
      subjects: [user(name)],
    });
  }
}

function user(name: string): k8s.Subject {
  return { apiGroup: rbacGroup, kind: 'User', name };
}
