import { labelsOf, type Rendered } from './other-objects.ts';

/** Objects in the hosted cluster with fields that cannot change: a selector, and a role. */
export function otherAddOns(cluster: string): Rendered[] {
  const labels = labelsOf(cluster, 'konnectivity');
  const group = 'rbac.authorization.k8s.io';
  const containers = [{ name: 'agent', image: 'registry.k8s.io/kas-network-proxy/proxy-agent:v0.36.0' }];
  return [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { namespace: 'kube-system', name: 'konnectivity-agent', labels },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
    },
    {
      apiVersion: `${group}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'kubeadm:node-autoapprove-certificate-rotation' },
      roleRef: {
        apiGroup: group,
        kind: 'ClusterRole',
        name: 'system:certificates.k8s.io:certificatesigningrequests:nodeclient',
      },
      subjects: [{ apiGroup: group, kind: 'Group', name: 'system:nodes' }],
    },
  ];
}
