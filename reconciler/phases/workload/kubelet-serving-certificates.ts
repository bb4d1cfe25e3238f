import { clusterNameLabel } from '../../../constructs/api/group.ts';
import { Machine } from '../../../constructs/api/resources.ts';
import type { CertificateRequest } from '../../hosted/certificate-request.ts';
import { HostedClusterNotReady } from '../../hosted/not-ready.ts';
import { askingNode, awaitsServing, type MachineObject, objection } from '../../kubelet-serving/plan.ts';
import { reservedHosts } from '../../kubelet-serving/reserved-hosts.ts';
import { degraded, done, type Outcome, wait } from '../../engine/outcome.ts';
import type { HostedClient } from '../../hosted/hosted-client.ts';
import { phase } from '../scope.ts';
import type { WorkloadScope } from './part.ts';
import { workloadRBAC } from './rbac.ts';

/** How many requests a message names. */
const reportedRequests = 3;
const firstLookMs = 1_000;
const longestLookMs = 10 * 60_000;

/**
 * Approves what kubelets ask for to serve with, which nobody else does. What asks for more than its own names is left
 * alone, not denied: somebody else may have reasons to approve it. Nobody waits for this.
 */
export const kubeletServingCertificates = phase({
  condition: 'WorkloadKubeletCertificatesReady',
  needs: [workloadRBAC],
  async run(scope): Promise<Outcome> {
    const hosted = scope.hosted(scope.facts);
    const requests = hosted.certificateRequests();
    if (!requests) return wait('WaitingForAPIServer', 'requests for certificates have not been listed yet');
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

/** Approves those that are right, and tells why the others are not. */
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
    await hosted.approve(request, `names nothing but what Node ${node} has`);
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
  const message = `not approved, in the hosted cluster: ${[...told, ...more].join('; ')}. Approve or deny by hand what you know`;
  return degraded('RequestNotApproved', message, {}, { requeueAt: nextLook(refusals, now) });
}

/**
 * A Node or a Machine gets its addresses late, which no watch of ours tells: the younger a request, the sooner it is
 * looked at again.
 */
function nextLook(refusals: readonly Refusal[], now: Date): Date {
  const ages = refusals.map(
    ({ request: { metadata } }) => now.getTime() - Date.parse(metadata.creationTimestamp ?? ''),
  );
  const youngest = Math.min(...ages.filter((age) => Number.isFinite(age)), longestLookMs);
  return new Date(now.getTime() + Math.max(firstLookMs, youngest));
}
