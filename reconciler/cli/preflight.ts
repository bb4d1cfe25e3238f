import { Pod, Secret } from '../../constructs/api/resources.ts';
import { selectorLabels, selectorOf } from '../../constructs/cluster/labels.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import { kubernetesVersion, unsupportedVersion } from '../../constructs/cluster/versions.ts';
import { apiServiceHost } from '../../constructs/control-plane/certificates/certificate-plans.ts';
import { exposureStrategy } from '../../constructs/control-plane/exposure/exposure.ts';
import type { HostedClient } from '../clusters/hosted/hosted-client.ts';
import { KubeClient, type KubernetesApi } from '../kube/client.ts';
import { connectionFor } from '../kube/config.ts';
import { hasEnded, type PodObject } from '../kube/readiness.ts';
import { caOf, clientOf } from '../pki/kubeconfig.ts';
import { type SecretObject, valueOf } from '../pki/secret.ts';
import { findProblems, preflightChecks, type PreflightProblem } from '../desired-state/upgrade/preflight/checks.ts';
import { observePreflight } from '../desired-state/upgrade/preflight/observe.ts';
import { skippedChecks } from '../desired-state/upgrade/preflight/skipped.ts';
import { findingControlPlane, forwardingPort } from './access.ts';
import { table } from './columns.ts';
import { clusterArgument, type Command, type Session, textOption, UsageError } from './command.ts';
import { type ControlPlane, findControlPlane } from './control-plane.ts';
import { configurationResult } from './upgrade-configuration.ts';
import type { Paint } from './view.ts';

/** Reports what would hold an upgrade, before a user requests it. */
export const preflight: Command = {
  name: 'preflight',
  usage: 'CLUSTER --to VERSION',
  summary: 'Checks what would hold an upgrade of Kubernetes. It changes nothing.',
  options: {
    to: { type: 'string', value: 'VERSION', meaning: 'the version of Kubernetes, such as v1.36.3' },
  },
  access: [
    findingControlPlane,
    { resource: Pod, verbs: ['list'], why: 'finding the API servers' },
    { resource: Secret, verbs: ['get'], why: 'the kubeconfig of Cluster API' },
    forwardingPort('the API servers'),
  ],
  prepare(given) {
    const cluster = clusterArgument(given);
    const to = textOption(given, 'to');
    if (to === undefined) throw new UsageError('--to is missing: set the version to upgrade to, such as v1.36.3');
    const problem = unsupportedVersion(to);
    if (problem !== undefined) throw new UsageError(`--to: ${problem}`);
    return (session) => checkUpgrade(session, cluster, kubernetesVersion(to));
  },
};

async function checkUpgrade(session: Session, name: string, version: string): Promise<void> {
  const controlPlane = await findControlPlane(session, name);
  const { object: hostedControlPlane } = controlPlane;
  const labelSelector = selectorOf(selectorLabels(controlPlane.cluster, 'api-server'));
  const { items: pods } = await session.client.list<PodObject>(Pod, { namespace: session.namespace, labelSelector });
  const hosted = await hostedThrough(session, controlPlane, pods);
  const { result, message } = configurationResult(controlPlane, version);
  const configuration = result === 'failed' ? message : undefined;
  const subject = { version, hostedControlPlane, pods, now: new Date(), configuration };
  const problems = findProblems(await observePreflight(subject, hosted));
  const { checks: skipped } = skippedChecks(hostedControlPlane.metadata);
  const { terminal } = session;
  const rows = rowsOf({ problems, skipped, later: result === 'later' ? message : undefined }, terminal.paint);
  for (const line of table(rows, terminal)) terminal.print(line);
  const counting = problems.filter(({ check }) => !skipped.includes(check));
  if (counting.length > 0) {
    throw new Error(`the operator would hold the upgrade of ${name} to ${version}`);
  }
  terminal.print(`nothing holds the upgrade of ${name} to ${version}`);
}

/** What the rows report. */
interface Checked {
  readonly problems: readonly PreflightProblem[];
  readonly skipped: readonly string[];
  /** Why the configuration is not checked yet, if it is not. */
  readonly later: string | undefined;
}

/** A row for each check. */
function rowsOf({ problems, skipped, later }: Checked, paint: Paint): string[][] {
  const rows = preflightChecks.map((check) => {
    if (check === 'configuration' && later !== undefined) return [check, paint('waits', 'later'), later];
    const problem = problems.find((candidate) => candidate.check === check);
    if (problem === undefined) return [check, paint('ok', 'passed'), ''];
    const result = skipped.includes(check) ? paint('waits', 'skipped') : paint('fails', 'failed');
    return [check, result, problem.message];
  });
  return [['CHECK', 'RESULT', 'FOUND'], ...rows];
}

/** The API servers of a cluster as an administrator, each through a forwarded port of its pod. */
async function hostedThrough(
  { client, namespace, forward }: Session,
  { cluster, object }: ControlPlane,
  pods: readonly PodObject[],
): Promise<Pick<HostedClient, 'asAdministrator' | 'at'>> {
  const { kubeconfig: name } = namesOf(cluster).secrets;
  const kubeconfig = valueOf(await client.find<SecretObject>(Secret, { namespace, name }), 'value');
  const [ca, identity] = [caOf(kubeconfig), clientOf(kubeconfig)];
  if (ca === undefined || !identity) {
    throw new Error(`Secret ${name} of cluster ${cluster} holds no kubeconfig: wait until the control plane is Ready`);
  }
  const through = async <T>(pod: string, work: (api: KubernetesApi) => Promise<T>): Promise<T> => {
    const forwarded = await forward({ namespace, pod, port: exposureStrategy(object.spec).securePort });
    const { certificate: cert, key } = identity;
    const serverName = apiServiceHost({ name: cluster, namespace });
    const api = new KubeClient(
      connectionFor({ server: `https://127.0.0.1:${forwarded.port}`, ca, cert, key, serverName }),
    );
    try {
      return await work(api);
    } finally {
      forwarded.close();
      await api.connection.close();
    }
  };
  return {
    at: (address, _identity, work) => {
      const pod = pods.find(({ status }) => status?.podIP === address);
      return through(pod?.metadata.name ?? '', work);
    },
    asAdministrator: (work) => {
      const running = pods.find((pod) => !hasEnded(pod) && pod.status?.podIP !== undefined);
      if (!running) throw new Error(`no API server of cluster ${cluster} runs`);
      return through(running.metadata.name, work);
    },
  };
}
