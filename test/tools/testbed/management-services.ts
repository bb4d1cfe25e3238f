import { join } from 'node:path';
import { componentKubeconfig } from './credentials.ts';
import {
  binDirectory,
  cgroupName,
  dnsAddress,
  lanAddress,
  managementNumber,
  pkiDirectory,
  podCidr,
  serviceCidr,
  type Instance,
} from './instance.ts';

type Flags = Readonly<Record<string, string | number | boolean>>;

/** The health endpoint of the management cluster's etcd, as seen from inside the machine. */
export const etcdReadyUrl = 'http://127.0.0.1:2381/readyz';

/** A single member waits one election timeout (default a second) before it leads; a testbed has nothing to lose without fsync. */
export function etcdCommand(instance: Instance): string[] {
  const pki = pkiDirectory(instance);
  return command(instance, 'etcd', {
    'data-dir': join(instance.directory, 'management/etcd'),
    'listen-client-urls': 'https://127.0.0.1:2379',
    'advertise-client-urls': 'https://127.0.0.1:2379',
    'listen-peer-urls': 'http://127.0.0.1:2380',
    'listen-metrics-urls': 'http://127.0.0.1:2381',
    'cert-file': join(pki, 'etcd.crt'),
    'key-file': join(pki, 'etcd.key'),
    'client-cert-auth': true,
    'trusted-ca-file': join(pki, 'etcd-ca.crt'),
    'unsafe-no-fsync': true,
    'heartbeat-interval': 20,
    'election-timeout': 200,
  });
}

export function apiServerCommand(instance: Instance): string[] {
  const pki = pkiDirectory(instance);
  const address = lanAddress(instance, managementNumber);
  return command(instance, 'kube-apiserver', {
    'bind-address': address,
    'advertise-address': address,
    'secure-port': 6443,
    'etcd-servers': 'https://127.0.0.1:2379',
    'etcd-cafile': join(pki, 'etcd-ca.crt'),
    'etcd-certfile': join(pki, 'etcd-client.crt'),
    'etcd-keyfile': join(pki, 'etcd-client.key'),
    'client-ca-file': join(pki, 'ca.crt'),
    'tls-cert-file': join(pki, 'kube-apiserver.crt'),
    'tls-private-key-file': join(pki, 'kube-apiserver.key'),
    'kubelet-client-certificate': join(pki, 'kubelet-client.crt'),
    'kubelet-client-key': join(pki, 'kubelet-client.key'),
    'kubelet-preferred-address-types': 'InternalIP',
    'service-account-issuer': 'https://kubernetes.default.svc.cluster.local',
    'service-account-key-file': join(pki, 'service-account.crt'),
    'service-account-signing-key-file': join(pki, 'service-account.key'),
    'service-cluster-ip-range': serviceCidr(instance),
    'authorization-mode': 'Node,RBAC',
    'enable-admission-plugins': 'NodeRestriction',
    'allow-privileged': true,
    'requestheader-client-ca-file': join(pki, 'front-proxy-ca.crt'),
    'requestheader-allowed-names': 'front-proxy-client',
    'requestheader-username-headers': 'X-Remote-User',
    'requestheader-group-headers': 'X-Remote-Group',
    'requestheader-extra-headers-prefix': 'X-Remote-Extra-',
    'proxy-client-cert-file': join(pki, 'front-proxy-client.crt'),
    'proxy-client-key-file': join(pki, 'front-proxy-client.key'),
  });
}

/**
 * With the default of 20 requests a second the start alone takes four seconds. Load balancers are the testbed's, not a cloud's.
 */
export function controllerManagerCommand(instance: Instance): string[] {
  const pki = pkiDirectory(instance);
  return command(instance, 'kube-controller-manager', {
    ...clientFlags(instance, 'controller-manager'),
    'client-ca-file': join(pki, 'ca.crt'),
    'cluster-signing-cert-file': join(pki, 'ca.crt'),
    'cluster-signing-key-file': join(pki, 'ca.key'),
    'root-ca-file': join(pki, 'ca.crt'),
    'service-account-private-key-file': join(pki, 'service-account.key'),
    'use-service-account-credentials': true,
    'kube-api-qps': 300,
    'kube-api-burst': 600,
    // The only node is the machine itself: when it is so busy that its kubelet misses a minute, no pod has failed. By default all
    // pods would become not ready, and with them every Service.
    'node-monitor-grace-period': '10m',
  });
}

export function schedulerCommand(instance: Instance): string[] {
  return command(instance, 'kube-scheduler', clientFlags(instance, 'scheduler'));
}

export function kubeletCommand(instance: Instance, configFile: string): string[] {
  return command(instance, 'kubelet', {
    config: configFile,
    kubeconfig: componentKubeconfig(instance, 'kubelet'),
    'hostname-override': 'm',
    'node-ip': lanAddress(instance, managementNumber),
    v: 2,
  });
}

export function kubeProxyCommand(instance: Instance, configFile: string): string[] {
  return command(instance, 'kube-proxy', { config: configFile, v: 2 });
}

/** JSON, which is YAML as well. */
export function kubeletConfig(instance: Instance): string {
  return JSON.stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: join(pkiDirectory(instance), 'ca.crt') },
    },
    authorization: { mode: 'Webhook' },
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${cgroupName(instance, 'm')}`,
    clusterDNS: [dnsAddress(instance)],
    clusterDomain: 'cluster.local',
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
    // there are still hosts with cgroup version 1; the kubelet refuses them by default since 1.35
    failCgroupV1: false,
    failSwapOn: false,
    imageGCHighThresholdPercent: 100,
    // without CAP_SYS_RESOURCE neither the score can be lowered nor the hard limit of files raised
    maxOpenFiles: 20_000,
    oomScoreAdj: 0,
    maxPods: 250,
    // The kubelet restarts a container after 3 s at most, instead of 10, 20 and 40, because tests wait for it. Not sooner,
    // because
    // etcd members that refuse to start would take processor time from every other test.
    crashLoopBackOff: { maxContainerRestartPeriod: '3s' },
    // the default since 1.35
    featureGates: { KubeletCrashLoopBackOffMax: true },
    resolvConf: '/etc/resolv.conf',
  });
}

/** The default minSyncPeriod of a second would be the longest part of the time until a new Service works. */
export function kubeProxyConfig(instance: Instance): string {
  return JSON.stringify({
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'nftables',
    clientConnection: { kubeconfig: componentKubeconfig(instance, 'kube-proxy') },
    clusterCIDR: podCidr(instance, managementNumber),
    // nf_conntrack_max cannot be written in a network namespace
    conntrack: { maxPerCore: 0 },
    nftables: { minSyncPeriod: '50ms' },
    oomScoreAdj: 0,
    hostnameOverride: 'm',
  });
}

function clientFlags(instance: Instance, user: string): Flags {
  const kubeconfig = componentKubeconfig(instance, user);
  return {
    kubeconfig,
    'authentication-kubeconfig': kubeconfig,
    'authorization-kubeconfig': kubeconfig,
    'bind-address': '127.0.0.1',
    'leader-elect': false,
  };
}

function command(instance: Instance, binary: string, flags: Flags): string[] {
  return [join(binDirectory(instance), binary), ...Object.entries(flags).map(([name, value]) => `--${name}=${value}`)];
}
