/**
 * kube-proxy ignores most of its flags when it has a configuration file, which `kubeadm join` and network plugins read.
 * Therefore flags become fields of that file. Only flags without a field stay flags.
 */

/** The field of KubeProxyConfiguration (kubeproxy.config.k8s.io/v1alpha1) for each flag. */
const fields: Readonly<Record<'text' | 'number' | 'boolean' | 'list' | 'map', Readonly<Record<string, string>>>> = {
  text: {
    'bind-address': 'bindAddress',
    'cluster-cidr': 'clusterCIDR',
    'config-sync-period': 'configSyncPeriod',
    'conntrack-tcp-timeout-close-wait': 'conntrack.tcpCloseWaitTimeout',
    'conntrack-tcp-timeout-established': 'conntrack.tcpEstablishedTimeout',
    'conntrack-udp-timeout': 'conntrack.udpTimeout',
    'conntrack-udp-timeout-stream': 'conntrack.udpStreamTimeout',
    'detect-local-mode': 'detectLocalMode',
    'healthz-bind-address': 'healthzBindAddress',
    'iptables-min-sync-period': 'iptables.minSyncPeriod',
    'iptables-sync-period': 'iptables.syncPeriod',
    'ipvs-min-sync-period': 'ipvs.minSyncPeriod',
    'ipvs-scheduler': 'ipvs.scheduler',
    'ipvs-sync-period': 'ipvs.syncPeriod',
    'ipvs-tcp-timeout': 'ipvs.tcpTimeout',
    'ipvs-tcpfin-timeout': 'ipvs.tcpFinTimeout',
    'ipvs-udp-timeout': 'ipvs.udpTimeout',
    'kube-api-content-type': 'clientConnection.contentType',
    kubeconfig: 'clientConnection.kubeconfig',
    'metrics-bind-address': 'metricsBindAddress',
    'pod-bridge-interface': 'detectLocal.bridgeInterface',
    'pod-interface-name-prefix': 'detectLocal.interfaceNamePrefix',
    'proxy-mode': 'mode',
    'show-hidden-metrics-for-version': 'showHiddenMetricsForVersion',
  },
  number: {
    'conntrack-max-per-core': 'conntrack.maxPerCore',
    'conntrack-min': 'conntrack.min',
    'iptables-masquerade-bit': 'iptables.masqueradeBit',
    'kube-api-burst': 'clientConnection.burst',
    'kube-api-qps': 'clientConnection.qps',
    'oom-score-adj': 'oomScoreAdj',
  },
  boolean: {
    'bind-address-hard-fail': 'bindAddressHardFail',
    'conntrack-tcp-be-liberal': 'conntrack.tcpBeLiberal',
    'iptables-localhost-nodeports': 'iptables.localhostNodePorts',
    'ipvs-strict-arp': 'ipvs.strictARP',
    // One flag for every mode. The file has two fields; kube-proxy reads the one of its mode.
    'masquerade-all': 'iptables.masqueradeAll nftables.masqueradeAll',
    profiling: 'enableProfiling',
  },
  list: {
    'ipvs-exclude-cidrs': 'ipvs.excludeCIDRs',
    'nodeport-addresses': 'nodePortAddresses',
  },
  map: { 'feature-gates': 'featureGates' },
};

/**
 * Converts the text of a flag to a YAML value. Invalid numbers and booleans are not converted: kube-proxy reports the
 * error.
 */
const read: Readonly<Record<keyof typeof fields, (value: string) => unknown>> = {
  text: (value) => value,
  number: (value) => (/^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value),
  boolean: asBoolean,
  list: (value) => value.split(','),
  map: (value) =>
    Object.fromEntries(value.split(',').map((entry) => [entry.split('=')[0], asBoolean(entry.split('=')[1] ?? '')])),
};

function asBoolean(value: string): unknown {
  return value === 'true' || value === 'false' ? value === 'true' : value;
}

const kinds = Object.keys(fields) as (keyof typeof fields)[];

/** Whether a flag is a field of the configuration file. */
export function isConfigurationField(flag: string): boolean {
  return kinds.some((kind) => fields[kind][flag] !== undefined);
}

/** The content of the configuration file, from the flags that are fields of it. */
export function kubeProxyConfiguration(flags: Readonly<Record<string, string>>): object {
  const configuration: Record<string, unknown> = {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
  };
  for (const kind of kinds) {
    for (const [flag, paths] of Object.entries(fields[kind])) {
      const value = flags[flag];
      if (value === undefined) continue;
      for (const path of paths.split(' ')) set(configuration, path.split('.'), read[kind](value));
    }
  }
  return configuration;
}

function set(target: Record<string, unknown>, [name = '', ...rest]: string[], value: unknown): void {
  if (rest.length === 0) {
    target[name] = value;
    return;
  }
  const inner = (target[name] ?? {}) as Record<string, unknown>;
  target[name] = inner;
  set(inner, rest, value);
}
