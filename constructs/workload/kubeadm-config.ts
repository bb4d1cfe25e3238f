import { Yaml } from 'cdk8s';
import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import type { HostedCluster } from '../cluster/cluster.ts';
import { type Endpoint, formatEndpoint } from '../cluster/facts.ts';
import { kubernetesVersion } from '../cluster/versions.ts';

/** The form of ClusterConfiguration that kubeadm reads since 1.31, so in every supported minor. */
const kubeadmApiVersion = 'kubeadm.k8s.io/v1beta4';

export interface KubeadmConfigProps {
  readonly cluster: HostedCluster;
  readonly endpoint: Endpoint;
}

/**
 * The description of the cluster that `kubeadm join` reads. Only fields of both API versions are set; workers need no
 * others.
 */
export class KubeadmConfig extends Construct {
  constructor(scope: Construct, id: string, { cluster, endpoint }: KubeadmConfigProps) {
    super(scope, id);
    const { name, network, spec } = cluster;
    new k8s.KubeConfigMap(this, 'config', {
      metadata: { name: 'kubeadm-config', namespace: 'kube-system' },
      data: {
        ClusterConfiguration: Yaml.stringify({
          apiVersion: kubeadmApiVersion,
          kind: 'ClusterConfiguration',
          certificatesDir: '/etc/kubernetes/pki',
          clusterName: name,
          controlPlaneEndpoint: formatEndpoint(endpoint),
          imageRepository: 'registry.k8s.io',
          kubernetesVersion: kubernetesVersion(spec.version),
          networking: {
            dnsDomain: network.serviceDomain,
            podSubnet: network.pods.join(','),
            serviceSubnet: network.services.join(','),
          },
        }),
      },
    });
  }
}
