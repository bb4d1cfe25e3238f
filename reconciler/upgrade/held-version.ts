import type { HostedCluster } from '../../constructs/cluster/cluster.ts';
import { awaitedBackup } from './backup-before-upgrade.ts';
import { hasPassed } from './preflight/passed.ts';
import { minorChange, renderedVersion, type VersionContext } from './version-change.ts';

/**
 * The cluster as it is rendered now. While a change of Kubernetes' minor version waits for its backup, or for the checks
 * before it, only the version waits: every other change, such as that of a certificate, is made with the version that runs.
 */
export function withHeldVersion(context: VersionContext & { readonly now: Date }): HostedCluster {
  const { cluster } = context;
  const version = isHeld(context) ? renderedVersion(context) : undefined;
  if (!version) return cluster;
  return { ...cluster, spec: { ...cluster.spec, version } };
}

function isHeld(context: VersionContext & { readonly now: Date }): boolean {
  if (minorChange('Kubernetes', context) === undefined) return false;
  return awaitedBackup('Kubernetes', context) !== undefined || !hasPassed(context.hostedControlPlane, context.now);
}
