import type { NodeObject, PodObject } from '../../../../imports/kubernetes.ts';
import type { HostedControlPlane } from '../../../../constructs/api/hosted-control-plane.ts';
import { Node } from '../../../../constructs/api/resources.ts';
import type { HostedClient } from '../../../clusters/hosted/hosted-client.ts';
import { keptIdentity } from '../../../clusters/hosted/kept-objects.ts';
import { Collection } from '../../../kube/cache-budget.ts';
import type { KubernetesApi } from '../../../kube/client.ts';
import { hasEnded } from '../../../kube/readiness.ts';
import { askPods } from '../../../clusters/pods/ask-pods.ts';
import { backupProblem } from './backup.ts';
import type { PreflightObservation } from './checks.ts';
import { etcdProblem } from './etcd.ts';
import { requestedAPIs } from './removed-apis.ts';
import { webhookErrors } from './webhooks.ts';

/** The control plane before the upgrade. */
export interface PreflightSubject {
  /** The version to upgrade to. */
  readonly version: string;
  readonly hostedControlPlane: Pick<HostedControlPlane, 'metadata' | 'spec' | 'status'>;
  /** The API servers. */
  readonly pods: readonly PodObject[];
  readonly now: Date;
  /** What the kube-apiserver of the version has against flags, token issuers and audit settings, if it was asked. */
  readonly configuration: string | undefined;
}

/**
 * Observes what the checks of an upgrade decide by.
 * @throws HostedClusterNotReady when the hosted cluster does not answer
 */
export async function observePreflight(
  subject: PreflightSubject,
  hosted: Pick<HostedClient, 'asAdministrator' | 'at'>,
): Promise<PreflightObservation> {
  const { version, pods } = subject;
  const running = pods.filter((pod) => !hasEnded(pod));
  const answers = await askPods(running, (address) =>
    hosted.at(address, 'administrator', async (client) => requestedAPIs(await client.raw('/metrics'))),
  );
  const { nodes, errors } = await hosted.asAdministrator(async (client) => ({
    nodes: await kubelets(client),
    errors: await webhookErrors(client, version),
  }));
  return {
    version,
    nodes,
    requested: answers.flatMap((answer) => (answer.kind === 'answered' ? answer.value : [])),
    silent: answers.flatMap((answer) => (answer.kind === 'silent' ? [`${answer.pod} ${answer.problem}`] : [])),
    webhookErrors: errors,
    ...fromManagement(subject),
  };
}

/** What can be observed while no API server answers. @param why it does not */
export function observeWithoutHosted(subject: PreflightSubject, why: string): PreflightObservation {
  const { version } = subject;
  return { version, nodes: [], requested: [], silent: [why], webhookErrors: [], ...fromManagement(subject) };
}

function fromManagement({
  hostedControlPlane,
  now,
  configuration,
}: PreflightSubject): Pick<PreflightObservation, 'etcd' | 'backup' | 'configuration'> {
  const etcd = etcdProblem(hostedControlPlane.status);
  return { etcd, backup: backupProblem(hostedControlPlane, now), configuration };
}

async function kubelets(client: Pick<KubernetesApi, 'list'>): Promise<PreflightObservation['nodes']> {
  const keeper = () => {
    const all = new Collection<NodeObject>();
    return (node: NodeObject) => all.add(keptVersion(node));
  };
  const { items } = await client.list<NodeObject>(Node, { keeper });
  return items.map(({ metadata, status }) => ({
    name: metadata.name,
    kubeletVersion: status?.nodeInfo?.kubeletVersion ?? '',
  }));
}

/** A whole Node has fifty times as much. */
function keptVersion(node: NodeObject): NodeObject {
  const { kubeletVersion = '' } = node.status?.nodeInfo ?? {};
  return { ...keptIdentity(node), status: { nodeInfo: { kubeletVersion: kubeletVersion.slice(0, longestVersion) } } };
}

/** A version of Kubernetes with the suffix of a distribution. */
const longestVersion = 100;
