import { Yaml } from 'cdk8s';
import { planEtcdCertificates } from '../certificates/plan.ts';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { type EtcdSettings, etcdSettings } from './settings.ts';
import type { EtcdFacts } from '../../cluster/facts.ts';
import { etcdMember, etcdMemberHost, namesOf } from '../../cluster/names.ts';
import { ports } from '../../cluster/ports.ts';
import { quantityValue } from '../../api/quantity.ts';
import { etcdVersion } from '../../cluster/versions.ts';

export const etcdPaths = {
  /** A directory below the mount: some file systems put `lost+found` at their root, and etcd refuses a foreign entry. */
  data: '/var/lib/etcd/data',
  volume: '/var/lib/etcd',
  members: '/etc/etcd/members',
  pki: '/etc/etcd/pki',
} as const;

/** Data volume when the user names no size; its quota is then etcd's own default of 2 GiB. */
const defaultVolumeSize = '4Gi';

/** How large volumes grow by themselves when the user names no limit: what holds the largest database etcd advises. */
const defaultMaxVolumeSize = '16Gi';

/** Size of a member's data volume in a cluster that is not there yet. */
export function etcdVolumeSize({ spec: { etcd } }: Pick<HostedCluster, 'spec'>): string {
  // Zero is accepted beside autoGrow, and no volume can have it.
  if (etcd.volumeSize !== undefined && quantityValue(etcd.volumeSize) > 0) return etcd.volumeSize;
  const maximum = etcdMaxVolumeSize(etcd);
  return quantityValue(maximum) < quantityValue(defaultVolumeSize) ? maximum : defaultVolumeSize;
}

/**
 * What a new volume needs to be restored on: room for the snapshot, the database that is made of it, and what etcd writes
 * beside it. Without autoGrow it is the user's to choose.
 */
export function etcdVolumeSizeToRestore({ spec }: Pick<HostedCluster, 'spec'>, snapshotBytes: number): string {
  const initial = etcdVolumeSize({ spec });
  if (!spec.etcd.autoGrow) return initial;
  const gibibytes = Math.ceil((3 * snapshotBytes) / 1024 ** 3);
  return gibibytes * 1024 ** 3 > quantityValue(initial) ? `${gibibytes}Gi` : initial;
}

/** Size up to which volumes grow by themselves. */
export function etcdMaxVolumeSize(etcd: { readonly maxVolumeSize?: string | undefined }): string {
  return etcd.maxVolumeSize ?? defaultMaxVolumeSize;
}

/**
 * Largest size of the database on volumes of this size: half of it, so that a snapshot and the WAL fit beside a full
 * database, and 8 GiB at most, as etcd advises; or what the user says.
 */
export function etcdQuotaBytes({ spec: { etcd } }: Pick<HostedCluster, 'spec'>, volumeSize: string): number {
  const users = Number(etcd.args?.['quota-backend-bytes']);
  return users > 0 ? users : Math.min(Math.floor(quantityValue(volumeSize) / 2), 8 * 1024 ** 3);
}

/** What all members are configured with alike. */
export function etcdSettingsOf(cluster: HostedCluster, etcd: EtcdFacts | undefined): EtcdSettings {
  return etcdSettings({
    version: etcd?.version ?? etcdVersion(cluster.spec),
    quotaBytes: etcdQuotaBytes(cluster, etcd?.volumeSize ?? etcdVolumeSize(cluster)),
    args: cluster.spec.etcd.args,
  });
}

/**
 * The configuration file of one member. What differs between members (name, URLs) is here and not in the pod template,
 * so that a change of membership restarts nobody. With a configuration file etcd ignores flags and environment.
 */
export function etcdMemberConfig(
  cluster: HostedCluster,
  ordinal: number,
  { members, etcd }: { readonly members: number; readonly etcd?: EtcdFacts | undefined },
): string {
  const host = etcdMemberHost(cluster, ordinal);
  const tls = (pair: 'server' | 'peer', users: readonly string[]) => ({
    'allowed-cn': users,
    'cert-file': `${etcdPaths.pki}/${pair}.crt`,
    'key-file': `${etcdPaths.pki}/${pair}.key`,
    'trusted-ca-file': `${etcdPaths.pki}/ca.crt`,
    'client-cert-auth': true,
  });
  const { secrets } = namesOf(cluster.name);
  const plans = planEtcdCertificates(cluster);
  const clients = plans.filter(({ usages }) => !usages.includes('server'));
  const peers = plans.filter(({ secret }) => secret === secrets.etcdPeer);
  return Yaml.stringify({
    // HTTP with JSON for those who speak no gRPC; it would ask with the member's own certificate, which is no client's.
    'enable-grpc-gateway': false,
    ...etcdSettingsOf(cluster, etcd),
    name: etcdMember(cluster.name, ordinal),
    'data-dir': etcdPaths.data,
    'listen-client-urls': `https://0.0.0.0:${ports.etcdClient}`,
    'advertise-client-urls': `https://${host}:${ports.etcdClient}`,
    'listen-peer-urls': `https://0.0.0.0:${ports.etcdPeer}`,
    'initial-advertise-peer-urls': `https://${host}:${ports.etcdPeer}`,
    'listen-metrics-urls': `http://0.0.0.0:${ports.etcdMetrics}`,
    'initial-cluster': initialCluster(cluster, ordinal, { members, etcd }),
    'initial-cluster-state': etcd?.isFormed ? 'existing' : 'new',
    // Members of another cluster that happen to get these addresses are refused.
    'initial-cluster-token': `${cluster.namespace}.${cluster.name}`,
    'client-transport-security': tls(
      'server',
      clients.map(({ commonName }) => commonName),
    ),
    'peer-transport-security': tls(
      'peer',
      peers.map(({ commonName }) => commonName),
    ),
  });
}

/**
 * Whom a member takes for its peers when it starts without data; with data etcd never looks at it. One that has been
 * started before is told of nobody: on an empty volume it then fails, instead of coming back as a member that has
 * forgotten what it promised.
 */
function initialCluster(
  cluster: HostedCluster,
  ordinal: number,
  { members, etcd }: { readonly members: number; readonly etcd?: EtcdFacts | undefined },
): string {
  const founders = Array.from({ length: members }, (_, founder) => etcdPeer(cluster, founder));
  if (!etcd?.isFormed) return founders.join(',');
  return etcd.initialClusters[ordinal] ?? etcdPeer(cluster, ordinal);
}

/** A member and where its peers find it, as `initial-cluster` lists them. */
export function etcdPeer(cluster: { readonly name: string; readonly namespace: string }, ordinal: number): string {
  return `${etcdMember(cluster.name, ordinal)}=https://${etcdMemberHost(cluster, ordinal)}:${ports.etcdPeer}`;
}
