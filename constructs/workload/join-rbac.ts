import type { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import { Binding, Grant, group, user } from './grants.ts';
import { groups } from '../cluster/workload-identities.ts';

const csrApproval = 'system:certificates.k8s.io:certificatesigningrequests';

/** Permissions of a machine that joins as a node; every object is the same as that of `kubeadm init`. */
export class JoinRbac extends Construct {
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
