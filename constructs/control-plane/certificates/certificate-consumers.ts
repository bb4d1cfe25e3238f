import type { MinorChange } from '../../cluster/minors.ts';
import type { ComponentName } from '../../cluster/labels.ts';
import type { Names } from '../../cluster/names.ts';

/** A Secret by its role; its name is `namesOf(cluster).secrets[role]`. */
export type SecretRole = keyof Names['secrets'];

/** Programs that read certificates and keys. */
export type Program =
  | 'kube-apiserver'
  | 'konnectivity-server'
  | 'tunnel'
  | 'kube-controller-manager'
  | 'kube-scheduler'
  | 'etcd'
  | 'this provider'
  | 'Cluster API';

/**
 * The used part of a Secret: the CA certificates that are trusted; the first of them, which signs, with its key; or the
 * certificate and its key.
 */
export type Part = 'trust' | 'signer' | 'pair';

/** One use of one Secret by one program. */
export interface Use {
  readonly program: Program;
  readonly part: Part;
  /** Purpose of the use, for people. */
  readonly purpose: string;
  /**
   * Whether the program reloads the Secret while it runs: always, never, or since a minor version of Kubernetes. Every
   * value was observed with the real binary. Pods whose program does not reload are replaced one at a time.
   */
  readonly reloads: boolean | MinorChange;
}

/** The pods that run a program; undefined for programs outside the control plane's pods. */
export const podsOf: Readonly<Record<Program, ComponentName | undefined>> = {
  'kube-apiserver': 'api-server',
  'konnectivity-server': 'api-server',
  tunnel: 'api-server',
  'kube-controller-manager': 'controller-manager',
  'kube-scheduler': 'scheduler',
  etcd: 'etcd',
  'this provider': undefined,
  'Cluster API': undefined,
};

const kubeconfigTrust = (program: Program): Use => ({
  program,
  part: 'trust',
  purpose: 'verifies the API server',
  reloads: 'reloadsKubeconfigCA',
});

const pair = (program: Program, purpose: string, reloads: Use['reloads'] = true): Use => ({
  program,
  part: 'pair',
  purpose,
  reloads,
});

/** Every use of every Secret: the program, the purpose, and whether it reloads the Secret without a restart. */
export const uses: Readonly<Record<Exclude<SecretRole, 'encryption'>, readonly Use[]>> = {
  clusterCA: [
    { program: 'kube-apiserver', part: 'trust', purpose: 'verifies clients', reloads: true },
    // From Kubernetes 1.36 on, requests for logs and metrics use a changed file within five minutes. exec and
    // port-forward do so only after one of those, because they reuse the same transport.
    { program: 'kube-apiserver', part: 'trust', purpose: 'verifies kubelets', reloads: false },
    kubeconfigTrust('konnectivity-server'),
    { program: 'kube-controller-manager', part: 'trust', purpose: 'becomes kube-root-ca.crt', reloads: false },
    { program: 'kube-controller-manager', part: 'signer', purpose: 'signs certificates of kubelets', reloads: true },
    kubeconfigTrust('kube-controller-manager'),
    kubeconfigTrust('kube-scheduler'),
    { program: 'this provider', part: 'signer', purpose: 'signs, and verifies the API server', reloads: true },
    { program: 'Cluster API', part: 'trust', purpose: 'CA hash of joining machines', reloads: true },
  ],
  etcdCA: [
    { program: 'etcd', part: 'trust', purpose: 'verifies clients and peers', reloads: false },
    { program: 'kube-apiserver', part: 'trust', purpose: 'verifies etcd', reloads: false },
    { program: 'this provider', part: 'signer', purpose: 'signs, and verifies etcd', reloads: true },
  ],
  frontProxyCA: [
    { program: 'kube-apiserver', part: 'trust', purpose: 'verifies front proxies', reloads: true },
    { program: 'kube-controller-manager', part: 'trust', purpose: 'verifies front proxies', reloads: true },
    { program: 'this provider', part: 'signer', purpose: 'signs', reloads: true },
  ],
  serviceAccount: [
    { program: 'kube-apiserver', part: 'trust', purpose: 'verifies tokens', reloads: false },
    { program: 'kube-apiserver', part: 'signer', purpose: 'signs tokens', reloads: false },
    { program: 'kube-controller-manager', part: 'signer', purpose: 'signs tokens kept in Secrets', reloads: false },
  ],
  kubeconfig: [pair('Cluster API', 'reaches the cluster')],
  apiServer: [pair('kube-apiserver', 'serves')],
  apiServerKubeletClient: [pair('kube-apiserver', 'reaches kubelets')],
  apiServerEtcdClient: [pair('kube-apiserver', 'reaches etcd')],
  frontProxyClient: [pair('kube-apiserver', 'impersonates users towards aggregated API servers')],
  etcdServer: [pair('etcd', 'serves clients')],
  etcdPeer: [pair('etcd', 'serves and reaches peers')],
  konnectivityServer: [pair('konnectivity-server', 'serves agents', false)],
  konnectivityClient: [pair('konnectivity-server', "reviews agents' tokens")],
  tunnel: [pair('tunnel', 'serves proxies of workers')],
  controllerManager: [pair('kube-controller-manager', 'reaches the API server')],
  scheduler: [pair('kube-scheduler', 'reaches the API server')],
  controller: [pair('this provider', 'reaches the API server')],
  etcdController: [pair('this provider', 'reaches etcd')],
};
