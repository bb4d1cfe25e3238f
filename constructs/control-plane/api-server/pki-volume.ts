import type { k8s } from 'cdk8s-plus-30';
import { namesOf } from '../../cluster/names.ts';
import { projected } from '../../pod/component.ts';

/** Exactly the files that kube-apiserver reads. From a CA's Secret it mounts the certificate, never the key. */
export function pkiVolume(cluster: string): k8s.Volume {
  const { secrets } = namesOf(cluster);
  const pair = (secret: string, file: string) => ({
    secret,
    items: { [`${file}.crt`]: 'tls.crt', [`${file}.key`]: 'tls.key' },
  });
  return projected('pki', [
    { secret: secrets.clusterCA, items: { 'ca.crt': 'tls.crt' } },
    { secret: secrets.frontProxyCA, items: { 'front-proxy-ca.crt': 'tls.crt' } },
    { secret: secrets.etcdCA, items: { 'etcd/ca.crt': 'tls.crt' } },
    { secret: secrets.serviceAccount, items: { 'sa.pub': 'tls.crt', 'sa.key': 'tls.key' } },
    pair(secrets.apiServer, 'apiserver'),
    pair(secrets.apiServerKubeletClient, 'apiserver-kubelet-client'),
    pair(secrets.apiServerEtcdClient, 'apiserver-etcd-client'),
    pair(secrets.frontProxyClient, 'front-proxy-client'),
  ]);
}
