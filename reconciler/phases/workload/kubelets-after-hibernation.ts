import { signingSeconds } from '../../../constructs/control-plane/certificates/signing-duration.ts';
import type { HostedClient } from '../../hosted/hosted-client.ts';
import type { SilentNode } from '../../hosted/silent-nodes.ts';
import { namesOfMany } from '../../kube/names-of-many.ts';
import type { Scope } from '../scope.ts';

/** A kubelet renews its certificate before this part of its validity is left. */
const leastValidityLeft = 0.1;
/** Kubelets report every five minutes at least; one that runs and has a certificate has come back then. */
const comeBackMs = 6 * 60_000;
const nextLookMs = 10 * 60_000;

/** Nodes whose kubelets lost their certificates, and when to look again. */
export interface LostKubelets {
  /** One sentence: which ones, and what a user can do; undefined when there are none. */
  readonly message?: string;
  readonly requeueAt?: Date;
}

/**
 * Finds kubelets that could not renew their certificates while the control plane hibernated. No API has the expiry of such a
 * certificate: those are found that have not come back, and were silent for longer than a certificate that was renewed in time lasts.
 * @throws HostedClusterNotReady when the API server does not answer
 */
export async function kubeletsAfterHibernation(
  { cluster, hostedControlPlane: { status }, now }: Pick<Scope, 'cluster' | 'hostedControlPlane' | 'now'>,
  hosted: HostedClient,
): Promise<LostKubelets> {
  const awake = status?.conditions?.find(({ type }) => type === 'Awake');
  if (awake?.status !== 'True') return {};
  const since = new Date(awake.lastTransitionTime);
  const isOlder = ({ creationTimestamp = '' }: { creationTimestamp?: string | undefined }) =>
    Date.parse(creationTimestamp) < since.getTime();
  // Without a hibernation, no Node is older than its awake control plane, and nothing is asked.
  if (!hosted.nodeMetadata()?.some(({ metadata }) => isOlder(metadata))) return {};
  const lookAt = new Date(since.getTime() + comeBackMs);
  if (now < lookAt) return { requeueAt: lookAt };
  const lost = await hosted.nodesSilentSince(since, signingSeconds(cluster) * 1000 * leastValidityLeft);
  if (lost.length === 0) return {};
  return { message: messageOf(lost), requeueAt: new Date(now.getTime() + nextLookMs) };
}

function messageOf(lost: readonly SilentNode[]): string {
  const [first] = lost.map(({ lastReport }) => lastReport.toISOString()).toSorted();
  return `Nodes ${namesOfMany(lost.map(({ name }) => name))} have not reported since the control plane hibernated, the longest since ${first}: their kubelets' certificates may have expired meanwhile, and such a kubelet cannot renew its own. Delete their Machines, so that Cluster API replaces them, or join them again with kubeadm reset and kubeadm join`;
}
