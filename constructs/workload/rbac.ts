import { Construct } from 'constructs';
import type { HostedCluster } from '../cluster/cluster.ts';
import { AddOnRbac } from './add-on-rbac.ts';
import type { AppliedKind } from './applied-kinds.ts';
import { ControllerRights } from './controller-rights.ts';
import { Binding, Grant, user } from './grants.ts';
import { users } from '../cluster/workload-identities.ts';
import { JoinRbac } from './join-rbac.ts';

export interface RbacProps {
  readonly cluster: HostedCluster;
  /** Kinds that the operator's client applies. */
  readonly applied: readonly AppliedKind[];
}

/**
 * Every permission that the operator grants in a hosted cluster. No identity of the operator is in `system:masters`.
 */
export class Rbac extends Construct {
  constructor(scope: Construct, id: string, { cluster, applied }: RbacProps) {
    super(scope, id);

    // The API server reaches kubelets for logs, exec and port-forward.
    new Binding(this, 'kubelet-client', {
      name: `hosted-control-plane:${users.kubeletClient}`,
      clusterRole: 'system:kubelet-api-admin',
      subjects: [user(users.kubeletClient)],
    });

    // The konnectivity server reviews the tokens of agents, and Leases count its replicas.
    new Binding(this, 'konnectivity-server', {
      name: 'hosted-control-plane:konnectivity-server',
      clusterRole: 'system:auth-delegator',
      subjects: [user(users.konnectivityServer)],
    });
    new Grant(this, 'konnectivity-leases', {
      name: 'hosted-control-plane:konnectivity-server',
      namespace: 'kube-system',
      rules: [
        {
          apiGroups: ['coordination.k8s.io'],
          resources: ['leases'],
          verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
        },
      ],
      subjects: [user(users.konnectivityServer)],
    });

    new ControllerRights(this, 'controller', { applied });
    new JoinRbac(this, 'join');
    new AddOnRbac(this, 'add-ons', { cluster });
  }
}
