import type { ConditionReason } from '../../../constructs/api/conditions.ts';
import type { HostedCluster } from '../../../constructs/cluster/cluster.ts';
import { skipPreflightAnnotation } from '../../../constructs/api/group.ts';
import { isApplied, newestOf, verdictOn } from '../../api-server/held-configuration.ts';
import { minorChange, type VersionContext } from '../version-change.ts';
import { skippedChecks } from './skipped.ts';

/** A spec that may wait for a kube-apiserver to check its configuration. */
type CheckedContext = VersionContext & { readonly candidate?: HostedCluster | undefined };

/** Why an upgrade does not begin. */
export interface HeldUpgrade {
  readonly reason: ConditionReason<'UpgradePreflightSucceeded'>;
  readonly message: string;
}

/**
 * Why the newest spec, with a later minor, is not reconciled yet: the kube-apiserver of that version checks its configuration,
 * or has refused it. Undefined when the newest spec is reconciled, or changes no minor.
 */
export function heldByConfiguration(context: CheckedContext): HeldUpgrade | undefined {
  const { candidate, reader } = context;
  if (candidate === undefined) return undefined;
  const { version } = candidate.spec;
  const change = minorChange('Kubernetes', askedBy(context));
  if (change === undefined) return undefined;
  return verdictOn(candidate, reader)?.kind === 'refused'
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
export function configurationProblem(context: CheckedContext): string | undefined {
  const asked = newestOf(context);
  const { version } = asked.spec;
  const verdict = isApplied(asked, context.reader) ? undefined : verdictOn(asked, context.reader);
  switch (verdict?.kind) {
    case 'refused':
      return `kube-apiserver ${version} refuses flags, token issuers or audit settings: ${verdict.message}`;
    case 'unknown':
      return `the check of flags, token issuers and audit settings by kube-apiserver ${version} did not end: ${verdict.message}`;
    case 'accepted':
    case undefined:
      return undefined;
  }
}

/**
 * Whether a user begins the change of a minor version whatever its kube-apiserver says. Not what the operator itself refuses: an
 * issuer that is that of the management cluster would open the cluster to its tokens.
 */
export function skipsConfiguration(context: CheckedContext): boolean {
  const { checks } = skippedChecks(context.hostedControlPlane.metadata);
  return checks.includes('configuration') && minorChange('Kubernetes', askedBy(context)) !== undefined;
}

/** With the version of the newest spec. */
function askedBy({ cluster, hostedControlPlane, reader, candidate }: CheckedContext): VersionContext {
  const version = candidate?.spec.version ?? hostedControlPlane.spec.version;
  return {
    cluster,
    hostedControlPlane: { ...hostedControlPlane, spec: { ...hostedControlPlane.spec, version } },
    reader,
  };
}
