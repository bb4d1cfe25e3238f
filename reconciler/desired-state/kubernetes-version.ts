import type { HostedCluster } from '../../constructs/cluster/cluster.ts';
import type { RecordedRevisions } from './revision/believed.ts';
import { awaitedBackup } from './upgrade/backup-before-upgrade.ts';
import { isHeld, nextStep, type UpgradeStep } from './upgrade/emulation.ts';
import { hasPassed } from './upgrade/preflight/checks.ts';
import { minorChange, renderedBinaries, renderedVersion, type VersionContext } from './upgrade/version-change.ts';
import { awaitedRestore } from './upgrade/way-back.ts';
import type { HeldField } from './held-field.ts';

interface VersionInput extends VersionContext {
  readonly recorded: RecordedRevisions;
  readonly now: Date;
}

interface VersionDecision {
  readonly cluster: HostedCluster;
  /** Why it does not have the version of the spec; undefined if it does. */
  readonly held?: HeldField | undefined;
}

/**
 * The cluster as it is rendered now. While a change of Kubernetes' minor version waits for its backup, for the checks before
 * it, or for the restore without which there is no way back, only the version waits, and the release with it: every other change,
 * such as that of a certificate, is made with the version that runs. While binaries of the new minor emulate the one before,
 * everything but these binaries has the version before.
 */
export function decideVersion(context: VersionInput): VersionDecision {
  const { accepted, hostedControlPlane, now } = context;
  const rendered = renderedVersion(context);
  if (rendered === undefined) return { cluster: accepted };
  const restore = awaitedRestore(context);
  if (restore !== undefined)
    return {
      cluster: at({ version: rendered, binaries: undefined }, context),
      held: held('WaitingForRestore', restore),
    };
  const change = minorChange('Kubernetes', context);
  if (change === undefined) return { cluster: accepted };
  const backup = awaitedBackup('Kubernetes', context);
  const { spec, status } = hostedControlPlane;
  const upgrade = { spec, status, rendered, binaries: renderedBinaries(context), now };
  const mayProceed = backup === undefined && hasPassed(hostedControlPlane, now);
  const step = nextStep({ ...upgrade, mayProceed });
  if (step.version === spec.version) return { cluster: accepted };
  const cluster = at(step, context);
  if (isHeld(upgrade) || (mayProceed && step.binaries !== undefined))
    return {
      cluster,
      held: held(
        'HoldingUpgrade',
        `binaries of ${spec.version} emulate ${step.version}: see the condition UpgradeHoldEnded`,
      ),
    };
  return {
    cluster,
    held:
      backup === undefined
        ? held(
            'CheckingUpgrade',
            `the change of ${change} waits for its checks: see the condition UpgradePreflightSucceeded`,
          )
        : held('WaitingForBackup', backup),
  };
}

function held(reason: HeldField['reason'], because: string): HeldField {
  return { field: 'version', reason, because };
}

function at({ version, binaries }: UpgradeStep, { accepted, recorded }: VersionInput): HostedCluster {
  const release = recorded.served?.release ?? accepted.release;
  return { ...accepted, spec: { ...accepted.spec, version }, release, ...(binaries === undefined ? {} : { binaries }) };
}
