import type { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import { Binding, Grant, group, user } from './grants.ts';
import { groups } from '../cluster/workload-identities.ts';

const csrApproval = 'system:certificates.k8s.io:certificatesigningrequests';

/** What a machine needs to read and to ask for on its way to being a node; every object as `kubeadm init` makes it. */
export class JoinRbac extends Construct {
  constructor(scope: Construct, id: string) {
    super(scope, id);

    // Before it trusts anybody: the first request of all is anonymous, and what it reads is signed.
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
    // kubeadm refuses to join under the name of a node that is Ready.
    new Grant(this, 'get-nodes', {
      name: 'kubeadm:get-nodes',
      rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }],
      subjects: [group(groups.bootstrappers)],
    });

    const bindings: Readonly<Record<string, readonly [clusterRole: string, subjects: string]>> = {
      'kubelet-bootstrap': ['system:node-bootstrapper', groups.bootstrappers],
      'node-autoapprove-bootstrap': [`${csrApproval}:nodeclient`, groups.bootstrappers],
      // For itself only: with `nodeclient` here any node could get the certificate of any other.
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
