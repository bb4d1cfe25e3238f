import type { CertificateKind } from '../../api/certificate-status.ts';
import type { SecretRole } from './certificate-consumers.ts';

/** A Secret with a certificate. Service account keys and encryption keys never expire. */
export type CertificateRole = Exclude<SecretRole, 'serviceAccount' | 'encryption'>;

/** The kind with which each certificate is reported in the status. */
export const kindOf: Readonly<Record<CertificateRole, CertificateKind>> = {
  clusterCA: 'ClusterCA',
  etcdCA: 'EtcdCA',
  frontProxyCA: 'ProxyCA',
  apiServer: 'Server',
  konnectivityServer: 'Server',
  tunnel: 'Server',
  apiServerKubeletClient: 'Client',
  frontProxyClient: 'Client',
  konnectivityClient: 'Client',
  controllerManager: 'Client',
  scheduler: 'Client',
  controller: 'Client',
  etcdServer: 'EtcdServer',
  etcdPeer: 'EtcdServer',
  apiServerEtcdClient: 'EtcdClient',
  etcdController: 'EtcdClient',
  kubeconfig: 'Kubeconfig',
};
