import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeKubeconfig } from '../../../reconciler/pki/kubeconfig.ts';
import {
  createCA,
  createServiceAccountKey,
  issueCertificate,
  validFor,
  type KeyPair,
} from '../../../reconciler/pki/issue.ts';
import {
  caPath,
  kubeconfigPath,
  kubernetesServiceAddress,
  lanAddress,
  managementNumber,
  pkiDirectory,
  type Instance,
} from './instance.ts';

type CA = 'ca' | 'etcd-ca' | 'front-proxy-ca';

interface Certificate {
  readonly certificateAuthority: CA;
  readonly commonName: string;
  readonly organizations?: readonly string[];
  readonly hosts?: readonly string[];
}

/** Users of the management API, each with a kubeconfig named after it. */
const users: Readonly<Record<string, Pick<Certificate, 'commonName' | 'organizations'>>> = {
  admin: { commonName: 'admin', organizations: ['system:masters'] },
  'controller-manager': { commonName: 'system:kube-controller-manager' },
  scheduler: { commonName: 'system:kube-scheduler' },
  kubelet: { commonName: 'system:node:m', organizations: ['system:nodes'] },
  'kube-proxy': { commonName: 'system:kube-proxy' },
};

/** A testbed lives for hours; a year is for one that was forgotten. */
const lifetimeMs = 365 * 24 * 3_600_000;

/** A kubeconfig of one of the management cluster's own components. */
export function componentKubeconfig(instance: Instance, user: string): string {
  return join(instance.directory, 'management', `${user}.kubeconfig`);
}

/** Creates every key, certificate and kubeconfig of the management cluster. */
export async function writeCredentials(instance: Instance): Promise<void> {
  await mkdir(pkiDirectory(instance), { recursive: true });
  const caCertificates = {
    ca: await createCA({ commonName: 'kubernetes' }, validity()),
    'etcd-ca': await createCA({ commonName: 'etcd-ca' }, validity()),
    'front-proxy-ca': await createCA({ commonName: 'front-proxy-ca' }, validity()),
  };
  const issue = (certificate: Certificate): Promise<KeyPair> =>
    issueFrom(caCertificates[certificate.certificateAuthority], certificate);
  const files: Record<string, KeyPair> = { ...caCertificates, 'service-account': createServiceAccountKey() };
  for (const [name, certificate] of Object.entries(certificates(instance))) files[name] = await issue(certificate);
  await Promise.all(Object.entries(files).map(([name, pair]) => writePair(instance, name, pair)));

  const endpoint = { host: lanAddress(instance, managementNumber), port: 6443 };
  for (const [user, subject] of Object.entries(users)) {
    const client = await issue({ certificateAuthority: 'ca', ...subject });
    const certificateAuthority = caCertificates.ca.certificate;
    const kubeconfig = writeKubeconfig({ cluster: instance.name, endpoint, ca: certificateAuthority, client });
    const path = user === 'admin' ? kubeconfigPath(instance) : componentKubeconfig(instance, user);
    await writeFile(path, kubeconfig, { mode: 0o600 });
  }
}

/** The certificate of the management cluster's CA. */
export async function caCertificate(instance: Instance): Promise<string> {
  return readFile(caPath(instance), 'utf8');
}

/** A serving certificate of that CA, for components that are installed later. */
export async function issueServing(instance: Instance, hosts: readonly [string, ...string[]]): Promise<KeyPair> {
  const key = await readFile(join(pkiDirectory(instance), 'ca.key'), 'utf8');
  const certificateAuthority = { certificate: await caCertificate(instance), key };
  return issueFrom(certificateAuthority, { certificateAuthority: 'ca', commonName: hosts[0], hosts });
}

function certificates(instance: Instance): Record<string, Certificate> {
  const service = [
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
  ];
  const addresses = [lanAddress(instance, managementNumber), '127.0.0.1', kubernetesServiceAddress(instance)];
  return {
    'kube-apiserver': {
      certificateAuthority: 'ca',
      commonName: 'kube-apiserver',
      hosts: [...addresses, 'localhost', ...service],
    },
    'kubelet-client': {
      certificateAuthority: 'ca',
      commonName: 'kube-apiserver-kubelet-client',
      organizations: ['system:masters'],
    },
    'front-proxy-client': { certificateAuthority: 'front-proxy-ca', commonName: 'front-proxy-client' },
    etcd: { certificateAuthority: 'etcd-ca', commonName: 'etcd', hosts: ['127.0.0.1', 'localhost'] },
    'etcd-client': { certificateAuthority: 'etcd-ca', commonName: 'kube-apiserver-etcd-client' },
  };
}

/** Those with host names are serving certificates; etcd also uses its own as a client, which does not affect the others. */
function issueFrom(
  certificateAuthority: KeyPair,
  { commonName, organizations = [], hosts = [] }: Certificate,
): Promise<KeyPair> {
  const usages = hosts.length > 0 ? (['server', 'client'] as const) : (['client'] as const);
  return issueCertificate({ commonName, organizations, usages, hosts }, certificateAuthority, validity());
}

function validity() {
  return validFor(lifetimeMs, new Date());
}

async function writePair(instance: Instance, name: string, pair: KeyPair): Promise<void> {
  const path = join(pkiDirectory(instance), name);
  await writeFile(`${path}.crt`, pair.certificate);
  await writeFile(`${path}.key`, pair.key, { mode: 0o600 });
}
