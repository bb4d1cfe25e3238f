import { Yaml } from 'cdk8s';
import { planEtcdCertificates } from '../certificates/certificate-plans.ts';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { type EtcdSettings, etcdSettings } from './settings.ts';
import type { EtcdFacts } from '../../cluster/facts.ts';
import { etcdMember, etcdMemberHost, namesOf } from '../../cluster/names.ts';
import { ports } from '../../cluster/ports.ts';
import { rendersWith } from '../../cluster/release-revisions.ts';
import { defaultMaxVolumeSize } from '../../api/etcd-spec.ts';
import { quantityValue } from '../../api/quantity.ts';
import { etcdVersion } from '../../cluster/versions.ts';

export const etcdPaths = {
  /**
   * A directory below the mount: some file systems have `lost+found` at their root, and etcd rejects foreign entries.
   */
  data: '/var/lib/etcd/data',
  volume: '/var/lib/etcd',
  members: '/etc/etcd/members',
  pki: '/etc/etcd/pki',
} as const;

/** Size of a data volume by default. Its quota is etcd's own default of 2 GiB. */
const defaultVolumeSize = '4Gi';

/** Size of a member's data volume in a cluster that does not exist yet. */
export function etcdVolumeSize({ spec: { etcd } }: Pick<HostedCluster, 'spec'>): string {
  // Zero is valid with autoGrow, but no volume can have this size.
  if (etcd.volumeSize !== undefined && quantityValue(etcd.volumeSize) > 0) return etcd.volumeSize;
  const maximum = etcdMaxVolumeSize(etcd);
  return quantityValue(maximum) < quantityValue(defaultVolumeSize) ? maximum : defaultVolumeSize;
}

/**
 * Size of a new volume for a restore: room for the snapshot, the database, and the other files of etcd. Without
 * autoGrow the user sets the size.
 */
export function etcdVolumeSizeToRestore({ spec }: Pick<HostedCluster, 'spec'>, snapshotBytes: number): string {
  const initial = etcdVolumeSize({ spec });
  if (!spec.etcd.autoGrow) return initial;
  const gibibytes = Math.ceil((3 * snapshotBytes) / 1024 ** 3);
  return gibibytes * 1024 ** 3 > quantityValue(initial) ? `${gibibytes}Gi` : initial;
}

/** Size up to which the operator expands volumes. */
export function etcdMaxVolumeSize(etcd: { readonly maxVolumeSize?: string | undefined }): string {
  return etcd.maxVolumeSize ?? defaultMaxVolumeSize;
}

/**
 * Maximum size of the database on volumes of this size, unless the user sets it: half of the volume, so that a snapshot
 * and the WAL fit next to a full database, and at most 8 GiB, as etcd recommends.
 */
export function etcdQuotaBytes({ spec: { etcd } }: Pick<HostedCluster, 'spec'>, volumeSize: string): number {
  const users = Number(etcd.args?.['quota-backend-bytes']);
  return users > 0 ? users : Math.min(Math.floor(quantityValue(volumeSize) / 2), 8 * 1024 ** 3);
}

/** The settings that are the same for all members. */
export function etcdSettingsOf(cluster: HostedCluster, etcd: EtcdFacts | undefined): EtcdSettings {
  return etcdSettings({
    version: etcd?.version ?? etcdVersion(cluster),
    quotaBytes: etcdQuotaBytes(cluster, etcd?.volumeSize ?? etcdVolumeSize(cluster)),
    args: cluster.spec.etcd.args,
    separatesHTTP: rendersWith(cluster, 'separatesEtcdHTTP'),
  });
}

/**
 * The configuration file of one member. Settings that differ between members (name, URLs) are in this file and not in
 * the pod template, so that a membership change restarts no pod. With a configuration file etcd ignores flags and
 * environment.
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
    // The gateway serves HTTP with JSON to clients without gRPC. It would connect with the member's own certificate,
    // which is not a client certificate.
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
    'initial-cluster-state': etcd?.isFormed && !etcd.founders.includes(ordinal) ? 'existing' : 'new',
    'initial-cluster-token': initialClusterToken(cluster),
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
 * The peers of a member that starts without data; with data etcd ignores this setting. A member that has started before
 * gets no peers. On an empty volume it then fails, instead of rejoining as a member that has lost its log.
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

/** A member and its peer URL, in the format of `initial-cluster`. */
export function etcdPeer(cluster: { readonly name: string; readonly namespace: string }, ordinal: number): string {
  return `${etcdMember(cluster.name, ordinal)}=https://${etcdMemberHost(cluster, ordinal)}:${ports.etcdPeer}`;
}

/** Rejects members of another cluster that get these addresses. */
export function initialClusterToken({
  namespace,
  name,
}: {
  readonly namespace: string;
  readonly name: string;
}): string {
  return `${namespace}.${name}`;
}
