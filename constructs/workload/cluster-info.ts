import { Yaml } from 'cdk8s';
import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import { type Endpoint, formatEndpoint } from '../cluster/facts.ts';

export interface ClusterInfoProps {
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
