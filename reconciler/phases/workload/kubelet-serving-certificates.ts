import { clusterNameLabel } from '../../../constructs/api/group.ts';
import { Machine } from '../../../constructs/api/resources.ts';
import type { CertificateRequest } from '../../hosted/certificate-request.ts';
import { HostedClusterNotReady } from '../../hosted/not-ready.ts';
import { askingNode, awaitsServing, type MachineObject, objection } from '../../kubelet-serving/plan.ts';
import { reservedHosts } from '../../kubelet-serving/reserved-hosts.ts';
import { degraded, done, notObserved, type Outcome, wait } from '../../engine/outcome.ts';
import type { HostedClient } from '../../hosted/hosted-client.ts';
import { phase } from '../scope.ts';
import type { WorkloadScope } from './part.ts';
import { workloadRBAC } from './rbac.ts';

/** Maximum number of requests in a message. */
const reportedRequests = 3;
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
    const requests = hosted.certificateRequests();
    if (!requests)
      return notObserved('the operator has not listed the CertificateSigningRequests of the hosted cluster yet');
    const waiting = requests.filter(awaitsServing);
    if (waiting.length === 0) return done();

    try {
      return outcomeOf(await answer(scope, hosted, waiting), scope.now);
    } catch (error) {
      if (!(error instanceof HostedClusterNotReady)) throw error;
      return wait('WaitingForAPIServer', error.message, { afterMs: error.afterMs });
    }
  },
});

interface Refusal {
  readonly request: CertificateRequest;
  readonly why: string;
}

/** Approves the valid requests, and returns the reasons for the others. */
async function answer(
  scope: WorkloadScope,
  hosted: HostedClient,
  waiting: readonly CertificateRequest[],
): Promise<Refusal[]> {
  const machines = await scope.writer.readAll<MachineObject>(Machine, { [clusterNameLabel]: scope.cluster.name });
  const isReserved = reservedHosts(scope.cluster, scope.facts);
  const answers = waiting.map(async (request): Promise<Refusal | undefined> => {
    const node = askingNode(request);
    const live = node === undefined ? undefined : await hosted.node(node);
    const nodeAddresses = live && (live.status?.addresses ?? []);
    const why = objection(request, { nodeAddresses, machines, isReserved });
    if (why) return { request, why };
    await hosted.approve(request, `contains only names and addresses of Node ${node}`);
    return undefined;
  });
  return (await Promise.all(answers)).filter((refusal) => refusal !== undefined);
}

function outcomeOf(refusals: readonly Refusal[], now: Date): Outcome {
  if (refusals.length === 0) return done();
  const told = refusals
    .slice(0, reportedRequests)
    .map(({ request, why }) => `CertificateSigningRequest ${request.metadata.name} ${why}`);
  const more = refusals.length > reportedRequests ? [`and ${refusals.length - reportedRequests} more`] : [];
  const message = `the operator did not approve requests in the hosted cluster: ${[...told, ...more].join('; ')}. Approve or deny them manually`;
  return degraded('RequestNotApproved', message, {}, { requeueAt: nextLook(refusals, now) });
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
