import type { HostedCluster } from '../../constructs/cluster/cluster.ts';
import { recordedRevisions } from '../revision/revisions.ts';
import { awaitedBackup } from './backup-before-upgrade.ts';
import { nextStep, type UpgradeStep } from './emulation.ts';
import { hasPassed } from './preflight/passed.ts';
import { minorChange, renderedBinaries, renderedVersion, type VersionContext } from './version-change.ts';
import { awaitedRestore } from './way-back.ts';

/**
 * The cluster as it is rendered now. While a change of Kubernetes' minor version waits for its backup, for the checks before
 * it, or for the restore without which there is no way back, only the version waits, and the release with it: every other change,
 * such as that of a certificate, is made with the version that runs. While binaries of the new minor emulate the one before,
 * everything but these binaries has the version before.
 */
export function withHeldVersion(context: VersionContext & { readonly now: Date }): HostedCluster {
  const { cluster, hostedControlPlane, now } = context;
  const rendered = renderedVersion(context);
  if (rendered === undefined) return cluster;
  if (awaitedRestore(context) !== undefined) return at({ version: rendered, binaries: undefined }, context);
  if (minorChange('Kubernetes', context) === undefined) return cluster;
  const mayProceed = awaitedBackup('Kubernetes', context) === undefined && hasPassed(hostedControlPlane, now);
  const { spec, status } = hostedControlPlane;
  const binaries = renderedBinaries(context);
  return at(nextStep({ spec, status, rendered, binaries, mayProceed, now }), context);
}

function at(
  { version, binaries }: UpgradeStep,
  { cluster, hostedControlPlane, reader }: VersionContext,
): HostedCluster {
  if (version === cluster.spec.version) return cluster;
  const { served } = recordedRevisions(reader, hostedControlPlane, cluster.name);
  const release = served?.release ?? cluster.release;
  return { ...cluster, spec: { ...cluster.spec, version }, release, ...(binaries === undefined ? {} : { binaries }) };
}
