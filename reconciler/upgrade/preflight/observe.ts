import type { ConditionType } from '../../../constructs/api/conditions.ts';
import { Node } from '../../../constructs/api/resources.ts';
import type { HostedControlPlaneStatus } from '../../../constructs/api/status.ts';
import type { HostedClient } from '../../hosted/hosted-client.ts';
import type { KubernetesApi } from '../../kube/client.ts';
import { hasEnded, type PodObject } from '../../kube/readiness.ts';
import type { KubeObject } from '../../kube/object.ts';
import { askPods } from '../../pods/ask-pods.ts';
import type { PreflightObservation } from './checks.ts';
import { requestedAPIs } from './removed-apis.ts';
import { webhookErrors } from './webhooks.ts';

interface NodeWithVersion extends KubeObject {
  readonly status?: { readonly nodeInfo?: { readonly kubeletVersion?: string } };
}

/** The control plane before the upgrade. */
export interface PreflightSubject {
  /** The version to upgrade to. */
  readonly version: string;
  readonly conditions: HostedControlPlaneStatus['conditions'];
  /** The API servers. */
  readonly pods: readonly PodObject[];
}

/**
 * Observes what the checks of an upgrade decide by.
 * @throws HostedClusterNotReady when the hosted cluster does not answer
 */
export async function observePreflight(
  { version, conditions, pods }: PreflightSubject,
  hosted: Pick<HostedClient, 'asAdministrator' | 'at'>,
): Promise<PreflightObservation> {
  const running = pods.filter((pod) => !hasEnded(pod));
  const answers = await askPods(running, (address) =>
    hosted.at(address, 'administrator', async (client) => requestedAPIs(await client.raw('/metrics'))),
  );
  const { nodes, errors } = await hosted.asAdministrator(async (client) => ({
    nodes: await kubelets(client),
    errors: await webhookErrors(client),
  }));
  return {
    version,
    nodes,
    requested: answers.flatMap((answer) => (answer.kind === 'answered' ? answer.value : [])),
    silent: answers.flatMap((answer) => (answer.kind === 'silent' ? [`${answer.pod} ${answer.problem}`] : [])),
    webhookErrors: errors,
    ...fromConditions(conditions),
  };
}

/** What can be observed while no API server answers. @param why it does not */
export function observeWithoutHosted({ version, conditions }: PreflightSubject, why: string): PreflightObservation {
  return { version, nodes: [], requested: [], silent: [why], webhookErrors: [], ...fromConditions(conditions) };
}

function fromConditions(conditions: PreflightSubject['conditions']): Pick<PreflightObservation, 'etcd' | 'backup'> {
  return { etcd: failing(conditions, 'EtcdClusterHealthy'), backup: failing(conditions, 'EtcdBackupVerified') };
}

async function kubelets(client: Pick<KubernetesApi, 'list'>): Promise<PreflightObservation['nodes']> {
  const { items } = await client.list<NodeWithVersion>(Node);
  return items.map(({ metadata, status }) => ({
    name: metadata.name,
    kubeletVersion: status?.nodeInfo?.kubeletVersion ?? '',
  }));
}

/** The message of a condition that is False. */
function failing(conditions: PreflightSubject['conditions'], type: ConditionType): string | undefined {
  const condition = conditions?.find((candidate) => candidate.type === type);
  return condition?.status === 'False' ? condition.message : undefined;
}
