import type { PodObject } from '../../../imports/kubernetes.ts';
import { Pod } from '../../../constructs/api/resources.ts';
import { formatEndpoint } from '../../../constructs/cluster/facts.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import { rendersWith } from '../../../constructs/cluster/release-revisions.ts';
import { degraded, done, type Outcome } from '../../engine/outcome.ts';
import { messageOf } from '../../kube/error-message.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isReady } from '../../kube/readiness.ts';
import { askPods } from '../../clusters/pods/ask-pods.ts';
import type { WorkloadScope } from './part.ts';

/** Agents connect to an API server within seconds after they or it have started. */
const patienceMs = 30_000;

/**
 * Which API servers have no agent although agents run. An agent is ready once it has reached one API server. It reaches the others by
 * new connections to the same address, which a balancer that is sticky by the client's address always leads to the same one.
 */
export async function agentsProblem(
  live: readonly KubeObject[],
  scope: WorkloadScope & { readonly facts: { readonly konnectivityEndpoint?: unknown } },
): Promise<Outcome | undefined> {
  const { cluster, facts, reader, agentsProbe, hasAgent, now } = scope;
  const pods = reader
    .list<PodObject>(Pod, selectorLabels(cluster.name, 'api-server'))
    .filter((pod) => isReady(pod) && !pod.metadata.deletionTimestamp);
  // A single one is that which agents have reached.
  if (pods.length < 2 || !rendersWith(cluster, 'showsAgents')) return undefined;
  const servers = pods.map(({ metadata, status }) => [metadata.uid, status?.podIP]);
  // Each change of their Deployment: an agent that was replaced between two reconciles leaves the same number of agents.
  const agents = live.map(({ metadata }) => [metadata.uid, metadata.resourceVersion]);
  const result = await agentsProbe.probe([servers, agents], async () => {
    const answers = await askPods(pods, hasAgent);
    // An API server that does not answer here is not ready, which its own condition reports.
    const without = answers.filter((answer) => answer.kind === 'answered' && !answer.value).map(({ pod }) => pod);
    if (without.length > 0) throw new Error(without.join(', '));
  });
  if (result.kind !== 'fails') return undefined;
  const { since = now, retryAt } = result;
  if (now.getTime() - since.getTime() < patienceMs) return done({}, retryAt);
  const endpoint = facts.konnectivityEndpoint;
  const at = endpoint === undefined ? '' : ` ${formatEndpoint(endpoint)}`;
  const message = `no konnectivity agent is connected to ${messageOf(result.error)}, so that logs, exec and webhooks fail there: each agent connects to every API server by new connections to${at}, so let what is in front of it lead them to any API server, without affinity to the client's address`;
  return degraded('APIServerWithoutAgent', message, {}, { requeueAt: retryAt });
}
