import type { HostedControlPlaneStatus } from '../../../constructs/api/status.ts';
import { signingSeconds } from '../../../constructs/control-plane/certificates/signing-duration.ts';
import type { HostedClient } from '../../clusters/hosted/hosted-client.ts';
import type { NodeReport } from '../../clusters/hosted/node-reports.ts';
import { namesOfMany } from '../../kube/names-of-many.ts';
import type { Scope } from '../scope.ts';

/** A kubelet renews its certificate before this part of its validity is left. */
const leastValidityLeft = 0.1;
/** Kubelets report every five minutes at least: one that works has reported within this time before, and does so after. */
const reportsWithinMs = 6 * 60_000;
const nextLookMs = 10 * 60_000;

type Hibernation = NonNullable<HostedControlPlaneStatus['hibernation']>;

/** What became of the kubelets. */
export interface KubeletsAfterHibernation {
  /** What stays in the status: nothing once they have all come back. Unset if nothing changes. */
  readonly report?: { readonly hibernation: Hibernation | undefined };
  /** One sentence: which ones did not come back, and what a user can do; undefined when there are none. */
  readonly message?: string;
  readonly requeueAt?: Date;
}

/**
 * Finds kubelets that could not renew their certificates while the control plane hibernated. No API has the expiry of such a
 * certificate: those are found that reported until the hibernation, do not report after it, and were silent for longer than a
 * certificate that was renewed in time lasts. It runs when an API server answers, which is when the hibernation is over.
 * @throws HostedClusterNotReady when the API server does not answer
 */
export async function kubeletsAfterHibernation(
  { cluster, hostedControlPlane, now }: Pick<Scope, 'cluster' | 'hostedControlPlane' | 'now'>,
  hosted: Pick<HostedClient, 'nodeReports'>,
): Promise<KubeletsAfterHibernation> {
  const { hibernation } = hostedControlPlane.status ?? {};
  if (!hibernation) return {};
  const until = hibernation.until === undefined ? now : new Date(hibernation.until);
  const dueAt = new Date(until.getTime() + reportsWithinMs);
  const report = { hibernation: { ...hibernation, until: until.toISOString() } };
  if (now < dueAt) return { report, requeueAt: dueAt };
  const certainMs = signingSeconds(cluster) * 1000 * leastValidityLeft;
  const lost = (await hosted.nodeReports()).filter((node) =>
    isLost(node, new Date(hibernation.since), until, certainMs),
  );
  if (lost.length === 0) return { report: { hibernation: undefined } };
  return { message: messageOf(lost), requeueAt: new Date(now.getTime() + nextLookMs) };
}

/** @param certainMs for how long the certificate of a kubelet that reported until `since` is certain to be valid */
function isLost({ at }: NodeReport, since: Date, until: Date, certainMs: number): boolean {
  if (!at || at >= until) return false;
  return at.getTime() > since.getTime() - reportsWithinMs && until.getTime() - at.getTime() > certainMs;
}

function messageOf(lost: readonly NodeReport[]): string {
  const names = namesOfMany(lost.map(({ name }) => name));
  return `no report of Nodes ${names} has come since the control plane hibernated: the client certificates of their kubelets may have expired meanwhile, and such a kubelet cannot renew its own. Delete their Machines, so that Cluster API replaces them, or join them again with kubeadm reset and kubeadm join`;
}
