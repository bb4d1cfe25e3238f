import { Construct } from 'constructs';
import { readAtStart } from '../certificates/restarts.ts';
import { signingDuration } from '../certificates/signing-duration.ts';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { type Facts, rolloutOf } from '../../cluster/facts.ts';
import type { Flag } from '../../pod/flags.ts';
import { kubeClientFlags, kubeClientPaths, KubeClientComponent } from './kube-client-component.ts';
import { nodeNetworkFlags } from './node-networks.ts';
import { namesOf } from '../../cluster/names.ts';
import { ports } from '../../cluster/ports.ts';

/** Every flag that the operator sets on kube-controller-manager, with its reason. */
export function controllerManagerFlags(cluster: HostedCluster): Flag[] {
  const { pki } = kubeClientPaths;
  return [
    ...kubeClientFlags,
    ...nodeNetworkFlags(cluster),
    ['client-ca-file', `${pki}/ca.crt`, ''],
    ['cluster-cidr', cluster.network.pods.join(','), ''],
    ['cluster-name', cluster.name, ''],
    ['cluster-signing-cert-file', `${pki}/signer.crt`, 'signs the certificates of kubelets; it must not be a bundle'],
    [
      'cluster-signing-duration',
      signingDuration(cluster),
      'maximum time for which a node presents a certificate of a replaced CA',
    ],
    ['cluster-signing-key-file', `${pki}/signer.key`, 'must belong to the certificate, or both are ignored'],
    [
      'controllers',
      '*,bootstrap-signer-controller,token-cleaner-controller',
      'kubeadm join needs the last two',
      // The last two are what these controllers were called before Kubernetes 1.28, which still reads those names.
      ['-bootstrap-signer-controller', '-token-cleaner-controller', '-bootstrapsigner', '-tokencleaner'],
    ],
    ['kube-api-burst', '600', 'with the default 30 the first controllers start five seconds late'],
    ['kube-api-qps', '300', 'see kube-api-burst'],
    ['requestheader-client-ca-file', `${pki}/front-proxy-ca.crt`, ''],
    ['root-ca-file', `${pki}/ca.crt`, 'becomes kube-root-ca.crt in every namespace'],
    ['service-account-private-key-file', `${pki}/sa.key`, ''],
    ['service-cluster-ip-range', cluster.network.services.join(','), ''],
    ['use-service-account-credentials', 'true', 'every controller has its own, minimal permissions'],
  ];
}

/** The controller manager of one hosted control plane. */
export class ControllerManager extends Construct {
  constructor(scope: Construct, id: string, props: { readonly cluster: HostedCluster; readonly facts: Facts }) {
    super(scope, id);
    const { cluster, facts } = props;
    const { secrets } = namesOf(cluster.name);
    new KubeClientComponent(this, 'component', {
      cluster,
      component: 'controller-manager',
      flags: controllerManagerFlags(cluster),
      settings: cluster.spec.deployment.controllerManager,
      port: ports.controllerManager,
      // It serves only /healthz, which does not show whether the controllers work.
      probePaths: { startup: '/healthz', readiness: '/healthz', liveness: '/healthz' },
      requests: { cpu: '50m', memory: '128Mi' },
      clientCertificate: secrets.controllerManager,
      pki: [
        { secret: secrets.clusterCA, items: { 'ca.crt': 'tls.crt', 'signer.key': 'tls.key' } },
        { secret: secrets.controllerManager, items: { 'signer.crt': 'ca.crt' } },
        { secret: secrets.frontProxyCA, items: { 'front-proxy-ca.crt': 'tls.crt' } },
        { secret: secrets.serviceAccount, items: { 'sa.key': 'tls.key' } },
      ],
      restartsWith: { ...readAtStart(cluster, facts, 'controller-manager'), ...rolloutOf(facts) },
    });
  }
}
