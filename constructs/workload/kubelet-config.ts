import { Yaml } from 'cdk8s';
import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import { type ClusterNetwork, dnsServiceAddress } from '../cluster/cluster.ts';

/**
 * How kubelets are configured: what `kubeadm init` would write, field by field, and one more: certificates to serve with
 * are asked for, for the API server accepts no others. All else is left to the kubelet: defaults that a newer release of this product wrote down have kept older kubelets from starting before.
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
            // Where kubeadm join puts the authority that it has read from cluster-info.
            x509: { clientCAFile: '/etc/kubernetes/pki/ca.crt' },
          },
          authorization: { mode: 'Webhook' },
          cgroupDriver: 'systemd',
          clusterDNS: [dnsServiceAddress(network)],
          clusterDomain: network.serviceDomain,
          healthzBindAddress: '127.0.0.1',
          healthzPort: 10248,
          rotateCertificates: true,
          // Without it every kubelet serves as an authority of its own, which nobody can verify.
          serverTLSBootstrap: true,
          staticPodPath: '/etc/kubernetes/manifests',
        }),
      },
    });
  }
}
