import { Yaml } from 'cdk8s';
import { durationSeconds, isDuration } from '../api/duration.ts';
import type { HostedCluster } from './cluster.ts';
import { etcdMember, etcdMemberHost } from './names.ts';
import { ports } from './ports.ts';
import { quantityValue } from '../api/quantity.ts';

export const etcdPaths = {
  /** A directory below the mount: some file systems put `lost+found` at their root, and etcd refuses a foreign entry. */
  data: '/var/lib/etcd/data',
  volume: '/var/lib/etcd',
  members: '/etc/etcd/members',
  pki: '/etc/etcd/pki',
} as const;

/** Data volume when the user names no size; its quota is then etcd's own default of 2 GiB. */
const defaultVolumeSize = '4Gi';

/** Size of a member's data volume. */
export function etcdVolumeSize(cluster: HostedCluster): string {
  const { volumeSize } = cluster.spec.etcd;
  // Zero is accepted beside autoGrow, and no volume can have it.
  return volumeSize !== undefined && quantityValue(volumeSize) > 0 ? volumeSize : defaultVolumeSize;
}

/** Half the volume, so that a snapshot and the WAL fit beside a full database; etcd advises against more than 8 GiB. */
export function etcdQuotaBytes(cluster: HostedCluster): number {
  return Math.min(Math.floor(quantityValue(etcdVolumeSize(cluster)) / 2), 8 * 1024 ** 3);
}

/**
 * The configuration file of one member. What differs between members (name, URLs) is here and not in the pod template,
 * so that a change of membership restarts nobody. With a configuration file etcd ignores flags and environment.
 */
export function etcdMemberConfig(cluster: HostedCluster, ordinal: number, members: number): string {
  const host = etcdMemberHost(cluster, ordinal);
  const tls = (pair: 'server' | 'peer') => ({
    'cert-file': `${etcdPaths.pki}/${pair}.crt`,
    'key-file': `${etcdPaths.pki}/${pair}.key`,
    'trusted-ca-file': `${etcdPaths.pki}/ca.crt`,
    'client-cert-auth': true,
  });
  const peers = Array.from({ length: members }, (_, member) => {
    return `${etcdMember(cluster.name, member)}=https://${etcdMemberHost(cluster, member)}:${ports.etcdPeer}`;
  });
  return Yaml.stringify({
    ...etcdSettings(cluster),
    name: etcdMember(cluster.name, ordinal),
    'data-dir': etcdPaths.data,
    'listen-client-urls': `https://0.0.0.0:${ports.etcdClient}`,
    'advertise-client-urls': `https://${host}:${ports.etcdClient}`,
    'listen-peer-urls': `https://0.0.0.0:${ports.etcdPeer}`,
    'initial-advertise-peer-urls': `https://${host}:${ports.etcdPeer}`,
    'listen-metrics-urls': `http://0.0.0.0:${ports.etcdMetrics}`,
    'initial-cluster': peers.join(','),
    'initial-cluster-state': 'new',
    // Members of another cluster that happen to get these addresses are refused.
    'initial-cluster-token': `${cluster.namespace}.${cluster.name}`,
    'client-transport-security': tls('server'),
    'peer-transport-security': tls('peer'),
  });
}

/** Keys of the configuration file and their values. */
type EtcdSettings = Record<string, EtcdSetting>;
type EtcdSetting = string | number | boolean | string[];

/** What all members are configured with alike; read at the start, so that a change of it restarts them. */
export function etcdSettings(cluster: HostedCluster): EtcdSettings {
  return {
    // A fallback only: the API server compacts every five minutes.
    'auto-compaction-mode': 'periodic',
    'auto-compaction-retention': '72h',
    'quota-backend-bytes': etcdQuotaBytes(cluster),
    'snapshot-count': 10_000,
    // Lets the API server serve consistent reads from its watch cache. In nanoseconds: a file takes no duration text.
    'watch-progress-notify-interval': 5e9,
    ...userSettings(cluster.spec.etcd.args),
  };
}

/** Settings that a user's etcd argument cannot change: identity, addresses, TLS, and where data is. */
export const reservedEtcdSettings: readonly string[] = [
  'advertise-client-urls',
  'cert-file',
  'client-cert-auth',
  'data-dir',
  'discovery',
  'discovery-srv',
  // Every restart of a member would throw the others out.
  'force-new-cluster',
  'initial-advertise-peer-urls',
  'initial-cluster',
  'initial-cluster-state',
  'initial-cluster-token',
  'key-file',
  'listen-client-urls',
  'listen-metrics-urls',
  'listen-peer-urls',
  'name',
  'peer-cert-file',
  'peer-client-cert-auth',
  'peer-key-file',
  'peer-trusted-ca-file',
  'trusted-ca-file',
  'wal-dir',
];

/** Flags and keys of the configuration file have the same names, but the file wants values of the right type. */
function userSettings(args: Readonly<Record<string, string>> | undefined): EtcdSettings {
  return Object.fromEntries(
    Object.entries(args ?? {})
      .filter(([name]) => !reservedEtcdSettings.includes(name))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => [name, typed(name, value)]),
  );
}

/** Settings that are lists in the file; as a flag their values are separated by commas. */
const lists = ['cipher-suites', 'log-outputs'];

function typed(name: string, value: string): EtcdSetting {
  if (lists.includes(name)) return value.split(',');
  // Text in the file as well: the one duration that is, and the one number.
  if (name === 'auto-compaction-retention') return value;
  if (value === 'true' || value === 'false') return value === 'true';
  if (/^\d+$/.test(value)) return Number(value);
  return isDuration(value) ? Math.round(durationSeconds(value) * 1e9) : value;
}
