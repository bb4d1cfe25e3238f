import type { MachineObject } from '../../../imports/cluster-api.ts';
import type { CertificateSigningRequestObject, NodeAddress } from '../../../imports/kubernetes.ts';
import { clusterNameLabel } from '../../../constructs/api/group.ts';
import { Machine } from '../../../constructs/api/resources.ts';
import { notReadyIn } from '../../clusters/hosted/outage.ts';
import { askingNode, awaitsServing, objection } from '../../certificates/kubelets/plan-approval.ts';
import { resultsOf, settleAll } from '../../kube/concurrency.ts';
import { reservedHosts } from '../../certificates/kubelets/reserved-hosts.ts';
import { degraded, done, notObserved, type Outcome, wait } from '../../engine/outcome.ts';
import { earliest } from '../../engine/requeue.ts';
import type { HostedClient } from '../../clusters/hosted/hosted-client.ts';
import { type Scope, phase } from '../scope.ts';
import type { WorkloadScope } from './part.ts';
import { workloadRBAC } from './rbac.ts';
import type { HostedControlPlaneStatus } from '../../../constructs/api/status.ts';
import { signingSeconds } from '../../../constructs/control-plane/certificates/signing-duration.ts';
import type { NodeReport } from '../../clusters/hosted/node-reports.ts';
import { namesOfMany } from '../../kube/names-of-many.ts';

/** Maximum number of requests in a message. */
const reportedRequests = 3;
/** Maximum number of requests that one reconcile answers, the newest first. */
const answeredRequests = 100;
/** Maximum number of requests to the hosted API server at a time. */
const atOnce = 8;
const firstLookMs = 1_000;
const longestLookMs = 10 * 60_000;

/**
 * Approves requests of kubelets for serving certificates, which no other controller does. A request for more than the
 * names and addresses of its node is neither approved nor denied, because an administrator may have reasons to approve
 * it. No other phase waits for this.
 */
export const kubeletServingCertificates = phase({
  condition: 'WorkloadKubeletCertificatesReady',
  needs: [workloadRBAC],
  async run(scope): Promise<Outcome> {
    const hosted = scope.hosted(scope.facts);
    const problem = hosted.watchProblem();
    if (problem) return degraded('HostedClusterTooLarge', tooLargeMessage(problem));
    const requests = hosted.certificateRequests();
    if (!requests)
      return notObserved('the operator has not listed the CertificateSigningRequests of the hosted cluster yet');
    const waiting = requests.filter(awaitsServing);

    try {
      const answered = newestFirst(waiting).slice(0, answeredRequests);
      const refusals = answered.length > 0 ? await answer(scope, hosted, answered) : [];
      const kubelets = await kubeletsAfterHibernation(scope, hosted);
      return outcomeOf({ refusals, left: waiting.length - answered.length, kubelets, now: scope.now });
    } catch (error) {
      const notReady = notReadyIn(error);
      if (!notReady) throw error;
      return wait('WaitingForAPIServer', notReady.message, { afterMs: notReady.afterMs });
    }
  },
});

interface Refusal {
  readonly request: CertificateSigningRequestObject;
  readonly why: string;
  /** The Node of the kubelet does not exist: not yet, or not any more. Then no administrator is needed. */
  readonly awaitsNode: boolean;
}

/** Approves the valid requests, and returns the reasons for the others. */
async function answer(
  scope: WorkloadScope,
  hosted: HostedClient,
  waiting: readonly CertificateSigningRequestObject[],
): Promise<Refusal[]> {
  const machines = await scope.writer.readAll<MachineObject>(Machine, { [clusterNameLabel]: scope.cluster.name });
  const isReserved = reservedHosts(scope.cluster, scope.facts);
  const addresses = await addressesOf(hosted, new Set(waiting.flatMap((request) => askingNode(request) ?? [])));
  const answers = await settleAll(waiting, atOnce, async (request): Promise<Refusal | undefined> => {
    const node = askingNode(request);
    const nodeAddresses = addresses.get(node ?? '');
    const why = objection(request, { nodeAddresses, machines, isReserved });
    if (why) return { request, why, awaitsNode: node !== undefined && !nodeAddresses };
    await hosted.approve(request, `contains only names and addresses of Node ${node}`);
    return undefined;
  });
  return resultsOf(answers).filter((refusal) => refusal !== undefined);
}

/** The addresses of the Nodes that exist. */
async function addressesOf(
  hosted: HostedClient,
  names: ReadonlySet<string>,
): Promise<ReadonlyMap<string, readonly NodeAddress[]>> {
  const read = async (name: string) => ({ name, node: await hosted.node(name) });
  const found = resultsOf(await settleAll([...names], atOnce, read));
  return new Map(found.flatMap(({ name, node }) => (node ? [[name, node.status?.addresses ?? []]] : [])));
}

function newestFirst(requests: readonly CertificateSigningRequestObject[]): CertificateSigningRequestObject[] {
  const timeOf = ({ metadata }: CertificateSigningRequestObject): string => metadata.creationTimestamp ?? '';
  return requests.toSorted((one, other) => timeOf(other).localeCompare(timeOf(one)));
}

function tooLargeMessage(problem: string): string {
  return `the operator does not follow the hosted cluster: ${problem}. It approves no requests and sees no changes of nodes meanwhile, and tries again every five minutes: delete what fills these objects in the hosted cluster, such as CertificateSigningRequests or annotations of Nodes`;
}

interface Answers {
  readonly refusals: readonly Refusal[];
  /** Number of requests that the operator did not check. Every approval is a change that causes a reconcile. */
  readonly left: number;
  readonly kubelets: KubeletsAfterHibernation;
  readonly now: Date;
}

function outcomeOf({ refusals, left, kubelets, now }: Answers): Outcome {
  const { report, message } = kubelets;
  const requeueAt = earliest([refusals.length > 0 ? nextLook(refusals, now) : undefined, kubelets.requeueAt]);
  const problems = [
    message,
    refusalMessage(
      refusals.filter(({ awaitsNode }) => !awaitsNode),
      left,
    ),
  ].filter((problem) => problem !== undefined);
  if (problems.length === 0) return done({}, requeueAt, { report });
  const reason = message === undefined ? 'RequestNotApproved' : 'KubeletCertificatesExpired';
  return degraded(reason, problems.join('. '), { requeueAt, report });
}

function refusalMessage(refusals: readonly Refusal[], left: number): string | undefined {
  if (refusals.length === 0) return undefined;
  const listed = refusals
    .slice(0, reportedRequests)
    .map(({ request, why }) => `CertificateSigningRequest ${request.metadata.name} ${why}`);
  const unlisted = Math.max(0, refusals.length - reportedRequests) + left;
  const more = unlisted > 0 ? [`and ${unlisted} more`] : [];
  return `the operator did not approve requests in the hosted cluster: ${[...listed, ...more].join('; ')}. Approve or deny them manually`;
}

/**
 * A Node or Machine may get its addresses late, which no watch of the operator reports. The younger a request, the
 * sooner it is checked again.
 */
function nextLook(refusals: readonly Refusal[], now: Date): Date {
  const ages = refusals.map(
    ({ request: { metadata } }) => now.getTime() - Date.parse(metadata.creationTimestamp ?? ''),
  );
  const youngest = Math.min(...ages.filter((age) => Number.isFinite(age)), longestLookMs);
  return new Date(now.getTime() + Math.max(firstLookMs, youngest));
}

/** A kubelet renews its certificate before this part of its validity is left. */
const leastValidityLeft = 0.1;
/** Kubelets report every five minutes at least: one that works has reported within this time before, and does so after. */
const reportsWithinMs = 6 * 60_000;
const nextLookMs = 10 * 60_000;

type Hibernation = NonNullable<HostedControlPlaneStatus['hibernation']>;

/** What became of the kubelets. */
interface KubeletsAfterHibernation {
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
async function kubeletsAfterHibernation(
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
