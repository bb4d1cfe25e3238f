import { Construct } from 'constructs';
import type { HostedCluster } from '../cluster/cluster.ts';
import type { AppliedKind } from './applied-kinds.ts';
import { ControllerRights } from './controller-rights.ts';
import { Binding, Grant, user, group, serviceAccount } from './grants.ts';
import { users, groups, serviceAccounts } from '../cluster/workload-identities.ts';
import type { k8s } from 'cdk8s-plus-30';
import { Lease } from '../api/resources.ts';
import { rulesOf } from '../cluster/access-rules.ts';

interface RbacProps {
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

/** Permissions of the add-ons that the spec does not disable. */
class AddOnRbac extends Construct {
  constructor(scope: Construct, id: string, { cluster }: { readonly cluster: HostedCluster }) {
    super(scope, id);
    const { kubeProxy, coredns, konnectivityClient } = cluster.spec;

    if (!kubeProxy.disabled) {
      new Binding(this, 'kube-proxy', {
        name: 'kubeadm:node-proxier',
        clusterRole: 'system:node-proxier',
        subjects: [serviceAccount(serviceAccounts.kubeProxy)],
      });
      // kubeadm join reads it to warn about settings that do not fit the machine.
      new Grant(this, 'kube-proxy-config', {
        name: 'kube-proxy',
        namespace: 'kube-system',
        rules: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['kube-proxy'], verbs: ['get'] }],
        subjects: [group(groups.bootstrappers)],
      });
    }

    if (!coredns.disabled) {
      new Grant(this, 'coredns', {
        name: 'system:coredns',
        rules: corednsRules,
        subjects: [serviceAccount(serviceAccounts.coredns)],
      });
    }

    if (!konnectivityClient.disabled) {
      new Grant(this, 'konnectivity-agent', {
        name: 'hosted-control-plane:konnectivity-agent',
        namespace: 'kube-system',
        rules: rulesOf([
          {
            resource: Lease,
            verbs: ['list', 'watch'],
            why: 'every konnectivity server has a Lease, by which the agent counts them',
          },
        ]),
        subjects: [serviceAccount(serviceAccounts.konnectivityAgent)],
      });
    }
  }
}

/** The same rules as in kubeadm. */
const corednsRules: k8s.PolicyRule[] = [
  { apiGroups: [''], resources: ['endpoints', 'services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
];

const csrApproval = 'system:certificates.k8s.io:certificatesigningrequests';

/** Permissions of a machine that joins as a node; every object is the same as that of `kubeadm init`. */
class JoinRbac extends Construct {
  constructor(scope: Construct, id: string) {
    super(scope, id);

    // The first request is anonymous, because the machine does not trust any server yet. The content it reads is
    // signed.
    new Grant(this, 'cluster-info', {
      name: 'kubeadm:bootstrap-signer-clusterinfo',
      namespace: 'kube-public',
      rules: [readConfigMap('cluster-info')],
      subjects: [user('system:anonymous')],
    });
    for (const [name, configMap] of [
      ['kubeadm:nodes-kubeadm-config', 'kubeadm-config'],
      ['kubeadm:kubelet-config', 'kubelet-config'],
    ] as const) {
      new Grant(this, configMap, {
        name,
        namespace: 'kube-system',
        rules: [readConfigMap(configMap)],
        subjects: [group(groups.nodes), group(groups.bootstrappers)],
      });
    }
    // kubeadm does not join with the name of a node that is Ready.
    new Grant(this, 'get-nodes', {
      name: 'kubeadm:get-nodes',
      rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }],
      subjects: [group(groups.bootstrappers)],
    });

    const bindings: Readonly<Record<string, readonly [clusterRole: string, subjects: string]>> = {
      'kubelet-bootstrap': ['system:node-bootstrapper', groups.bootstrappers],
      'node-autoapprove-bootstrap': [`${csrApproval}:nodeclient`, groups.bootstrappers],
      // Only for itself: with `nodeclient`, any node could get the certificate of another one.
      'node-autoapprove-certificate-rotation': [`${csrApproval}:selfnodeclient`, groups.nodes],
      'cluster-admins': ['cluster-admin', groups.administrators],
    };
    for (const [name, [clusterRole, subjects]] of Object.entries(bindings)) {
      new Binding(this, name, { name: `kubeadm:${name}`, clusterRole, subjects: [group(subjects)] });
    }
  }
}

function readConfigMap(name: string): k8s.PolicyRule {
  return { apiGroups: [''], resources: ['configmaps'], resourceNames: [name], verbs: ['get'] };
}
