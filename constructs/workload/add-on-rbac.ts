import type { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import { Lease } from '../api/resources.ts';
import type { HostedCluster } from '../cluster/cluster.ts';
import { Binding, Grant, group, serviceAccount } from './grants.ts';
import { groups, serviceAccounts } from '../cluster/workload-identities.ts';
import { rulesOf } from '../cluster/access-rules.ts';

/** Permissions of the add-ons that the spec does not disable. */
export class AddOnRbac extends Construct {
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
