import type { ConditionReason } from '../../../../constructs/api/conditions.ts';
import type { HostedCluster } from '../../../../constructs/cluster/cluster.ts';
import { skipPreflightAnnotation } from '../../../../constructs/api/group.ts';
import { isApplied, checkResultFor } from '../../api-server/held-configuration.ts';
import { minorChange, type VersionContext } from '../version-change.ts';
import { skippedChecks } from './checks.ts';

/** A spec that may wait for a kube-apiserver to check its configuration. */
interface CheckedContext extends Omit<VersionContext, 'accepted'> {
  /** By the newest usable spec. */
  readonly requested: HostedCluster;
}

/** Why an upgrade does not begin. */
interface HeldUpgrade {
  readonly reason: ConditionReason<'UpgradePreflightSucceeded'>;
  readonly message: string;
}

/**
 * Why the newest spec, with a later minor, is not reconciled yet: the kube-apiserver of that version checks its configuration,
 * or has refused it. Undefined when the newest spec is reconciled, or changes no minor.
 */
export function heldByConfiguration(
  context: CheckedContext & { readonly accepted: HostedCluster },
): HeldUpgrade | undefined {
  const { requested, accepted, reader, lived } = context;
  if (requested === accepted) return undefined;
  const { version } = requested.spec;
  const change = minorChange('Kubernetes', { accepted: requested, reader, lived });
  if (change === undefined) return undefined;
  return checkResultFor(requested, reader)?.kind === 'refused'
    ? {
        reason: 'ConfigurationRefused',
        message: `the change of ${change} is held: ${configurationProblem(context)}; to skip this check, name configuration in the annotation ${skipPreflightAnnotation}`,
      }
    : {
        reason: 'CheckingUpgrade',
        message: `the change of ${change} waits until kube-apiserver ${version} has checked flags, token issuers and audit settings: see the condition APIServerConfigurationAccepted`,
      };
}

/**
 * What the kube-apiserver of the newest spec has against its configuration, or why it could not say; undefined when it has
 * nothing, and while it has not answered.
 */
export function configurationProblem({
  requested,
  reader,
}: Pick<CheckedContext, 'requested' | 'reader'>): string | undefined {
  const { version } = requested.spec;
  const result = isApplied(requested, reader) ? undefined : checkResultFor(requested, reader);
  switch (result?.kind) {
    case 'refused':
      return `kube-apiserver ${version} refuses flags, token issuers or audit settings: ${result.message}`;
    case 'unknown':
      return `the check of flags, token issuers and audit settings by kube-apiserver ${version} did not end: ${result.message}`;
    case 'accepted':
    case undefined:
      return undefined;
  }
}

/**
 * Whether a user begins the change of a minor version whatever its kube-apiserver says. Not what the operator itself refuses: an
 * issuer that is that of the management cluster would open the cluster to its tokens.
 */
export function skipsConfiguration({ requested, hostedControlPlane, reader, lived }: CheckedContext): boolean {
  const { checks } = skippedChecks(hostedControlPlane.metadata);
  return (
    checks.includes('configuration') && minorChange('Kubernetes', { accepted: requested, reader, lived }) !== undefined
  );
}
