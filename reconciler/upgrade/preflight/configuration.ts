import type { ConditionReason } from '../../../constructs/api/conditions.ts';
import type { HostedCluster } from '../../../constructs/cluster/cluster.ts';
import { checkedConfiguration } from '../../../constructs/control-plane/api-server/checked-configuration.ts';
import { checkPodOf, isAbout, verdictOf } from '../../api-server/check-pod.ts';
import { minorChange, type VersionContext } from '../version-change.ts';

/** Why an upgrade does not begin. */
export interface HeldUpgrade {
  readonly reason: ConditionReason<'UpgradePreflightSucceeded'>;
  readonly message: string;
}

/**
 * Why the newest spec, with a later minor, is not reconciled yet: the kube-apiserver of that version checks its configuration,
 * or has refused it. Undefined when the newest spec is reconciled, or changes no minor.
 */
export function heldByConfiguration(
  context: VersionContext & { readonly candidate?: HostedCluster | undefined },
): HeldUpgrade | undefined {
  const { candidate, cluster, hostedControlPlane, reader } = context;
  if (candidate === undefined) return undefined;
  const { version } = candidate.spec;
  const asked = { ...hostedControlPlane, spec: { ...hostedControlPlane.spec, version } };
  const change = minorChange('Kubernetes', { cluster, hostedControlPlane: asked, reader });
  if (change === undefined) return undefined;
  const pod = checkPodOf(reader, cluster.name);
  const verdict = pod && isAbout(pod, checkedConfiguration(candidate)) ? verdictOf(pod) : undefined;
  return verdict?.kind === 'refused'
    ? {
        reason: 'ConfigurationRefused',
        message: `the change of ${change} is held: kube-apiserver ${version} refuses flags, token issuers or audit settings: ${verdict.message}`,
      }
    : {
        reason: 'CheckingUpgrade',
        message: `the change of ${change} waits until kube-apiserver ${version} has checked flags, token issuers and audit settings: see the condition APIServerConfigurationAccepted`,
      };
}
