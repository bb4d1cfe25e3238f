import { createHash, X509Certificate } from 'node:crypto';
import { splitCertificates } from '../../../reconciler/pki/pem.ts';
import type { BootstrapToken } from './bootstrap-token.ts';
import type { HostedApi } from './hosted-api.ts';
import { cgroupName, lanAddress } from './instance.ts';
import type { Machine } from './machine.ts';

/** How long kubeadm retries, such as `10s`. kubeadm's own defaults are minutes. */
export type JoinTimeouts = Readonly<Partial<Record<'discovery' | 'tlsBootstrap' | 'kubernetesAPICall', string>>>;

/** The file for `kubeadm join --config`: a standard one, without anything specific to a testbed. */
export function joinConfiguration(
  { endpoint, certificateAuthority }: Pick<HostedApi, 'endpoint' | 'certificateAuthority'>,
  { id, secret }: BootstrapToken,
  node: string,
  timeouts?: JoinTimeouts,
) {
  return {
    apiVersion: 'kubeadm.k8s.io/v1beta4',
    kind: 'JoinConfiguration',
    discovery: {
      bootstrapToken: {
        apiServerEndpoint: endpoint,
        token: `${id}.${secret}`,
        caCertHashes: splitCertificates(certificateAuthority).map(publicKeyHash),
      },
    },
    nodeRegistration: { name: node, criSocket: 'unix:///run/containerd/containerd.sock' },
    ...(timeouts && { timeouts }),
  };
}

/** Path in a machine of what its administrator adds to KUBELET_EXTRA_ARGS, as in the packages of Kubernetes; optional. */
export const kubeletDefaults = '/etc/default/kubelet';

/**
 * The kubelet's service, as a distribution's unit has it: it waits for the files of `kubeadm join` and adds
 * KUBELET_EXTRA_ARGS, which contains all machine-specific settings.
 */
export function kubeletScript(machine: Pick<Machine, 'instance' | 'name' | 'number'>): string {
  const { instance, name, number } = machine;
  const extra = {
    'cgroup-root': `/${cgroupName(instance, name)}`,
    // there are still hosts with cgroup version 1
    'fail-cgroupv1': false,
    // without CAP_SYS_RESOURCE neither the score can be lowered nor the hard limit of files raised
    'oom-score-adj': 0,
    'max-open-files': 20_000,
    // a disk that is fairly full is no reason to evict pods of tests
    'eviction-hard': 'memory.available<100Mi,nodefs.available<1%,imagefs.available<1%',
    'image-gc-high-threshold': 100,
    'node-ip': lanAddress(instance, number),
    v: 2,
  };
  const flags = Object.entries(extra).map(([flag, value]) => `--${flag}=${value}`);
  return `#!/bin/sh
KUBELET_EXTRA_ARGS="${flags.join(' ')}"
[ ! -f ${kubeletDefaults} ] || . ${kubeletDefaults}
until [ -s /var/lib/kubelet/kubeadm-flags.env ] && [ -s /var/lib/kubelet/config.yaml ]; do sleep 0.05; done
. /var/lib/kubelet/kubeadm-flags.env
exec kubelet --bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf \\
  --config=/var/lib/kubelet/config.yaml $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
`;
}

/** The form of kubeadm's `caCertHashes`: SHA-256 of the public key, DER. */
function publicKeyHash(certificate: string): string {
  const key = new X509Certificate(certificate).publicKey.export({ type: 'spki', format: 'der' });
  return `sha256:${createHash('sha256').update(key).digest('hex')}`;
}
