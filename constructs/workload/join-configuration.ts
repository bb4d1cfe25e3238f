import { Yaml } from 'cdk8s';
import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import { type Endpoint, formatEndpoint } from '../cluster/facts.ts';
import { type HostedCluster, type ClusterNetwork, dnsServiceAddress } from '../cluster/cluster.ts';
import { kubernetesVersion } from '../cluster/versions.ts';

interface ClusterInfoProps {
  readonly endpoint: Endpoint;
  /** PEM of the cluster CA certificate. */
  readonly ca: string;
}

/**
 * The first object that `kubeadm join` reads. It contains the CA and the endpoint, and becomes the kubelet's
 * kubeconfig. The controller manager adds a signature for every bootstrap token under additional keys.
 */
export class ClusterInfo extends Construct {
  constructor(scope: Construct, id: string, { endpoint, ca }: ClusterInfoProps) {
    super(scope, id);
    const cluster = {
      server: `https://${formatEndpoint(endpoint)}`,
      'certificate-authority-data': Buffer.from(ca).toString('base64'),
    };
    new k8s.KubeConfigMap(this, 'config', {
      metadata: { name: 'cluster-info', namespace: 'kube-public' },
      // kubeadm reads the cluster with the empty name.
      data: { kubeconfig: Yaml.stringify({ apiVersion: 'v1', kind: 'Config', clusters: [{ name: '', cluster }] }) },
    });
  }
}

/** The form of ClusterConfiguration that kubeadm reads since 1.31, so in every supported minor. */
const kubeadmApiVersion = 'kubeadm.k8s.io/v1beta4';

interface KubeadmConfigProps {
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

/**
 * The configuration of kubelets: the fields that `kubeadm init` writes, and serverTLSBootstrap, so that kubelets
 * request serving certificates, because the API server accepts no others. All other fields keep the kubelet's own
 * defaults: older kubelets may not start with defaults that a newer release of the operator writes.
 */
export class KubeletConfig extends Construct {
  constructor(scope: Construct, id: string, { network }: { readonly network: ClusterNetwork }) {
    super(scope, id);
    new k8s.KubeConfigMap(this, 'config', {
      metadata: { name: 'kubelet-config', namespace: 'kube-system' },
      data: {
        kubelet: Yaml.stringify({
          apiVersion: 'kubelet.config.k8s.io/v1beta1',
          kind: 'KubeletConfiguration',
          authentication: {
            anonymous: { enabled: false },
            webhook: { enabled: true },
            // kubeadm join writes the CA certificate from cluster-info to this file.
            x509: { clientCAFile: '/etc/kubernetes/pki/ca.crt' },
          },
          authorization: { mode: 'Webhook' },
          cgroupDriver: 'systemd',
          clusterDNS: [dnsServiceAddress(network)],
          clusterDomain: network.serviceDomain,
          healthzBindAddress: '127.0.0.1',
          healthzPort: 10248,
          rotateCertificates: true,
          // Otherwise every kubelet has a self-signed serving certificate, which no client can verify.
          serverTLSBootstrap: true,
          staticPodPath: '/etc/kubernetes/manifests',
        }),
      },
    });
  }
}
