import type { HostedCluster } from '../../constructs/cluster/cluster.ts';
import { etcdVersion } from '../../constructs/cluster/versions.ts';
import { awaitedBackup } from './backup-before-upgrade.ts';
import { renderedVersion, type VersionContext } from './version-change.ts';

/**
 * The cluster as it is rendered now. While a change of Kubernetes' minor version waits for its backup, only the version
 * waits: every other change, such as that of a certificate, is made with the version that runs. etcd does not wait for
 * the API servers.
 */
export function withHeldVersion(context: VersionContext): HostedCluster {
  const { cluster } = context;
  const version = awaitedBackup('Kubernetes', context) && renderedVersion(context);
  if (!version) return cluster;
  const { spec } = cluster;
  return { ...cluster, spec: { ...spec, version, etcd: { ...spec.etcd, version: etcdVersion(spec) } } };
}
