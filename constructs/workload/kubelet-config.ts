import { Yaml } from 'cdk8s';
import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import { type ClusterNetwork, dnsServiceAddress } from '../cluster/cluster.ts';

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
