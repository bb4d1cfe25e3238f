import { randomUUID } from 'node:crypto';
import { Secret } from '../../../constructs/api/resources.ts';
import { crossCertify } from '../../../reconciler/pki/cross-certificate.ts';
import { createCA, issueCertificate, type KeyPair, validFor } from '../../../reconciler/pki/issue.ts';
import { bundle } from '../../../reconciler/pki/pem.ts';
import { encodedData } from '../../../reconciler/pki/secret.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';

const hourMs = 3_600_000;

/** The keys of a control plane as cert-manager issues them for teutonet's provider. */
export interface OtherKeys {
  /** The root, which signs since its last renewal. */
  readonly root: KeyPair;
  /** The root before, which workers that have not been replaced yet present certificates of. */
  readonly oldRoot: KeyPair;
  readonly secrets: readonly KubeObject[];
}

/**
 * Roots live 48 hours and are renewed after half of that; the CAs of etcd and the front proxy are intermediates of the root,
 * whose certificate is `ca.crt` of every Secret.
 * @param hosts further names in the certificate of the API server
 */
export async function makeOtherKeys(
  { namespace, cluster }: { readonly namespace: string; readonly cluster: string },
  hosts: readonly string[],
): Promise<OtherKeys> {
  const now = new Date();
  const root = await createCA({ commonName: 'kubernetes' }, validFor(36 * hourMs, now));
  const oldRoot = await createCA({ commonName: 'kubernetes' }, validFor(12 * hourMs, now));
  const intermediate = async (commonName: string): Promise<KeyPair> => {
    const own = await createCA({ commonName }, validFor(36 * hourMs, now));
    return { certificate: await crossCertify(own.certificate, root, now), key: own.key };
  };
  const [etcdCA, proxyCA] = [await intermediate('etcd-ca'), await intermediate('front-proxy-ca')];
  const leaf = async (signer: KeyPair, commonName: string, serverHosts: readonly string[] = []): Promise<KeyPair> => {
    const usages = serverHosts.length > 0 ? (['server', 'client'] as const) : (['client'] as const);
    const plan = { commonName, organizations: organizations[commonName] ?? [], usages, hosts: serverHosts };
    const issued = await issueCertificate(plan, signer, validFor(24 * hourMs, now));
    return signer === root ? issued : { ...issued, certificate: bundle(issued.certificate, signer.certificate) };
  };
  const members = [0, 1, 2].map((ordinal) => `${cluster}-etcd-${ordinal}`);
  const etcdHosts = [
    'localhost',
    '127.0.0.1',
    ...members,
    ...members.map((member) => `${member}.e-${cluster}-etcd.${namespace}.svc`),
    `e-${cluster}-etcd-client.${namespace}.svc`,
  ];
  const apiHosts = ['localhost', '127.0.0.1', 'kubernetes.default.svc', `s-${cluster}.${namespace}.svc`, ...hosts];
  const pairs: Record<string, KeyPair> = {
    ca: root,
    'etcd-ca': etcdCA,
    'front-proxy-ca': proxyCA,
    apiserver: await leaf(root, 'kube-apiserver', apiHosts),
    'apiserver-kubelet-client': await leaf(root, 'kube-apiserver-kubelet-client'),
    'front-proxy': await leaf(proxyCA, 'front-proxy-client'),
    'service-account': await leaf(root, 'service-account'),
    admin: await leaf(root, 'kubernetes-admin'),
    'etcd-server': await leaf(etcdCA, 'etcd-server', etcdHosts),
    'etcd-peer': await leaf(etcdCA, 'etcd-peer', etcdHosts),
    'etcd-apiserver-client': await leaf(etcdCA, 'apiserver-etcd-client'),
    'etcd-controller-client': await leaf(etcdCA, 'controller-etcd-client'),
  };
  const secret = (
    suffix: string,
    type: string,
    values: Record<string, string>,
  ): KubeObject & { type: string; data: object } => ({
    apiVersion: Secret.apiVersion,
    kind: Secret.kind,
    metadata: { namespace, name: `${cluster}-${suffix}`, labels: { 'cluster.x-k8s.io/cluster-name': cluster } },
    type,
    data: encodedData(values),
  });
  const bundleOf = (suffix: string) =>
    secret(`${suffix}-bundle`, 'Opaque', {
      'current.crt': root.certificate,
      'old.crt': oldRoot.certificate,
      'ca.crt': bundle(oldRoot.certificate, root.certificate),
    });
  return {
    root,
    oldRoot,
    secrets: [
      ...Object.entries(pairs).map(([suffix, { certificate, key }]) =>
        secret(suffix, 'kubernetes.io/tls', { 'tls.crt': certificate, 'tls.key': key, 'ca.crt': root.certificate }),
      ),
      ...['ca', 'etcd-ca', 'front-proxy-ca'].map(bundleOf),
      secret('kubeconfig', 'cluster.x-k8s.io/secret', { value: `kubeconfig-${randomUUID()}` }),
    ],
  };
}

const organizations: Readonly<Record<string, readonly string[]>> = {
  'kubernetes-admin': ['system:masters'],
  'kube-apiserver-kubelet-client': ['kubeadm:cluster-admins'],
};
