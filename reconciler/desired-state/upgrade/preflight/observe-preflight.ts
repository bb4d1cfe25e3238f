import type { NodeObject, PodObject } from '../../../../imports/kubernetes.ts';
import { backupAnnotation } from '../../../../constructs/api/group.ts';
import type { HostedControlPlane } from '../../../../constructs/api/hosted-control-plane.ts';
import { Node } from '../../../../constructs/api/resources.ts';
import type { HostedControlPlaneStatus } from '../../../../constructs/api/status.ts';
import { isVerificationOverdue } from '../../../backup/verify/plan-verification.ts';
import { verificationRules } from '../../../backup/verify/inventory.ts';
import type { HostedClient } from '../../../clusters/hosted/hosted-client.ts';
import { keptIdentity } from '../../../clusters/hosted/kept-objects.ts';
import { Collection } from '../../../kube/cache-budget.ts';
import type { KubernetesApi } from '../../../kube/client.ts';
import { messageOf } from '../../../kube/error-message.ts';
import { samplesOf } from '../../../kube/metric-samples.ts';
import { hasEnded } from '../../../kube/readiness.ts';
import { askPods } from '../../../clusters/pods/ask-pods.ts';
import type { PreflightInput, RequestedAPI } from './checks.ts';
import { webhookErrors } from './webhooks.ts';

/** The control plane before the upgrade. */
interface PreflightSubject {
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
): Promise<PreflightInput> {
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
export function observeWithoutHosted(subject: PreflightSubject, why: string): PreflightInput {
  const { version } = subject;
  return { version, nodes: [], requested: [], silent: [why], webhookErrors: [], ...fromManagement(subject) };
}

function fromManagement({
  hostedControlPlane,
  now,
  configuration,
}: PreflightSubject): Pick<PreflightInput, 'etcd' | 'backup' | 'configuration'> {
  const etcd = etcdProblem(hostedControlPlane.status);
  return { etcd, backup: backupProblem(hostedControlPlane, now), configuration };
}

async function kubelets(client: Pick<KubernetesApi, 'list'>): Promise<PreflightInput['nodes']> {
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

const metric = 'apiserver_requested_deprecated_apis';
const names = ['group', 'version', 'resource', 'removed_release'] as const;
type Labels = [group: string, version: string, resource: string, removedRelease: string];

/** The deprecated APIs that an API server names in its metrics: those that were requested since it started. */
export function requestedAPIs(metrics: string): RequestedAPI[] {
  return samplesOf(metrics, metric).flatMap(({ labels }) => {
    const [group, version, resource, removedRelease] = names.map((name) => labels.get(name) ?? '') as Labels;
    return /^\d{1,3}\.\d{1,3}$/.test(removedRelease) ? [{ group, version, resource, removedRelease }] : [];
  });
}

/**
 * Percent of the quota from which on etcd is too full for an upgrade: in the middle of one, no API server and no controller
 * could write. Volumes that can grow have done so long before.
 */
const fullFrom = 80;

/** Why etcd must not be changed now; undefined when it is healthy and has space. */
export function etcdProblem(
  status: Pick<HostedControlPlaneStatus, 'conditions' | 'etcd'> | undefined,
): string | undefined {
  const health = status?.conditions?.find(({ type }) => type === 'EtcdClusterHealthy');
  if (health?.status === 'False') return health.message;
  // After a move or a restart the operator has not looked yet, and what it has not seen must not pass.
  if (health?.status !== 'True')
    return 'the operator has not observed its health yet: wait until the condition EtcdClusterHealthy is True';
  const used = status?.etcd?.quotaPercent ?? 0;
  return used >= fullFrom
    ? `its database fills ${used} % of its quota: delete objects, or let the volumes grow (see the condition EtcdClusterReady): a full one accepts no writes`
    : undefined;
}

/**
 * Why nothing proves that a backup can be restored; undefined when something does, and when the spec asks for no proof. The backup
 * before the upgrade itself is not verified: the last verification shows that store, keys and snapshots are in order.
 */
export function backupProblem(
  { metadata, spec, status }: Pick<HostedControlPlane, 'metadata' | 'spec' | 'status'>,
  now: Date,
): string | undefined {
  const { backup } = spec.etcd;
  if (!backup || backup.verify.disabled) return undefined;
  const condition = status?.conditions?.find(({ type }) => type === 'EtcdBackupVerified');
  if (condition?.status === 'False') return condition.message;
  const last = status?.etcd?.lastVerifiedBackup;
  if (!last) {
    return 'none has been verified yet: the operator verifies the first one as soon as it is stored, which is when workers can join; wait until status.etcd.lastVerifiedBackup names it';
  }
  const identity = `${metadata.namespace}/${metadata.name}`;
  const schedule = { expression: backup.schedule, timeZone: backup.timeZone, identity };
  const times = { last: Date.parse(last.time), now: now.getTime() };
  try {
    if (!isVerificationOverdue(verificationRules(backup, identity), schedule, times)) return undefined;
  } catch (error) {
    return `etcd.backup: ${messageOf(error)}`;
  }
  return `the last verification, of ${last.name}, was on ${last.time}, and the next one is overdue: see the condition EtcdBackupReady; to verify one now, set etcd.backup.verify.every to 1 and request a backup by the annotation ${backupAnnotation}`;
}
