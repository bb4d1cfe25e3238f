import type { PodObject, SecretObject } from '../../imports/kubernetes.ts';
import { Pod, Secret } from '../../constructs/api/resources.ts';
import { selectorLabels, selectorOf } from '../../constructs/cluster/labels.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import { kubernetesVersion, minorOf, unsupportedVersion } from '../../constructs/cluster/versions.ts';
import { checkedConfiguration } from '../../constructs/control-plane/api-server/checked-configuration.ts';
import { apiServiceHost } from '../../constructs/control-plane/certificates/certificate-plans.ts';
import { exposureStrategy } from '../../constructs/control-plane/exposure/exposure.ts';
import { findingControlPlane, forwardingPort } from './access.ts';
import { table } from './columns.ts';
import { type Command, type Session, UsageError, clusterArgument, textOption } from './command.ts';
import { type ControlPlane, findControlPlane } from './control-plane.ts';
import { nextCommand } from './format.ts';
import { outputOf, outputOption, printed } from './output.ts';
import type { Paint } from './view.ts';
import type { HostedClient } from '../clusters/hosted/hosted-client.ts';
import { KubeClient, type KubernetesApi } from '../kube/client.ts';
import { connectionFor } from '../kube/config.ts';
import { hasEnded } from '../kube/readiness.ts';
import { caOf, clientOf } from '../pki/kubeconfig.ts';
import { valueOf } from '../pki/secret.ts';
import {
  type PreflightProblem,
  findProblems,
  preflightChecks,
  skippedChecks,
} from '../desired-state/upgrade/preflight/checks.ts';
import { observePreflight } from '../desired-state/upgrade/preflight/observe-preflight.ts';

/** Reports what would hold an upgrade, before a user requests it. */
export const preflight: Command = {
  name: 'preflight',
  examples: [['preflight prod -n team-a --to v1.37.1', 'before you set spec.version']],
  usage: 'CLUSTER --to VERSION [-o json|yaml]',
  summary: 'Checks what would hold an upgrade of Kubernetes. It changes nothing.',
  options: {
    to: { type: 'string', value: 'VERSION', meaning: 'the version of Kubernetes, such as v1.36.3' },
    output: outputOption(),
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
    if (/^v?\d+\.\d+$/.test(to))
      throw new UsageError(
        `--to must have a patch, such as ${kubernetesVersion(to)}, not "${to}": a minor alone means its first patch`,
      );
    const output = outputOf(given);
    return (session) => checkUpgrade(session, cluster, kubernetesVersion(to), output);
  },
};

/** What `-o json|yaml` prints. */
interface PreflightReport {
  readonly namespace: string;
  readonly cluster: string;
  readonly version: string;
  /** Whether the operator would hold the upgrade. */
  readonly holds: boolean;
  readonly checks: readonly Checked[];
}

async function checkUpgrade(
  session: Session,
  name: string,
  version: string,
  output: string | undefined,
): Promise<void> {
  const controlPlane = await findControlPlane(session, name);
  const refused = refusedVersion(controlPlane, version);
  if (refused !== undefined) throw new Error(refused);
  const { object: hostedControlPlane } = controlPlane;
  const labelSelector = selectorOf(selectorLabels(controlPlane.cluster, 'api-server'));
  const { items: pods } = await session.client.list<PodObject>(Pod, { namespace: session.namespace, labelSelector });
  const hosted = await hostedThrough(session, controlPlane, pods);
  const { result, message } = configurationResult(controlPlane, version);
  const configuration = result === 'failed' ? message : undefined;
  const subject = { version, hostedControlPlane, pods, now: new Date(), configuration };
  const problems = findProblems(await observePreflight(subject, hosted));
  const { checks: skipped } = skippedChecks(hostedControlPlane.metadata);
  const checks = checksOf({ problems, skipped, later: result === 'later' ? message : undefined });
  const { terminal, namespace } = session;
  const holds = checks.some((checked) => checked.result === 'failed');
  const report: PreflightReport = { namespace, cluster: controlPlane.cluster, version, holds, checks };
  const lines = printed(output, report, () => [
    ...table([['CHECK', 'RESULT', 'FOUND'], ...checks.map((checked) => rowOf(checked, terminal.paint))], terminal),
    ...(holds ? [] : [`nothing holds the upgrade of ${name} to ${version}`]),
  ]);
  for (const line of lines) terminal.print(line);
  if (holds) throw new Error(`the operator would hold the upgrade of ${name} to ${version}`);
}

/** Why the API server of the management cluster refuses this version, whatever the checks find; undefined if it does not. */
export function refusedVersion({ cluster, object }: ControlPlane, version: string): string | undefined {
  const { metadata, spec, status } = object;
  const running = (status?.versions ?? []).map((each) => each.version);
  if (status?.version === version && kubernetesVersion(spec.version) === version)
    return `${cluster} runs ${version} already: set another version with --to`;
  const newer = running.find((each) => minorOf(each) > minorOf(version));
  if (newer !== undefined)
    return `spec.version cannot go back to ${version}, because an API server runs ${newer}: ${nextCommand('rollback', cluster, metadata.namespace)} goes back, with a backup from before the upgrade`;
  const older = running.find((each) => minorOf(each) + 1 < minorOf(version));
  if (older === undefined) return undefined;
  return `${version} is more than one minor ahead of ${older}, which an API server runs: upgrade one minor at a time`;
}

/** One check. */
interface Checked {
  readonly check: string;
  /** `later`: the configuration is checked when the spec has the version; `skipped`: failed, and an annotation skips it. */
  readonly result: 'passed' | 'failed' | 'skipped' | 'later';
  readonly message: string;
}

/** The result of each check. @param found with why the configuration is not checked yet, if it is not */
export function checksOf(found: {
  readonly problems: readonly PreflightProblem[];
  readonly skipped: readonly string[];
  readonly later: string | undefined;
}): Checked[] {
  const { problems, skipped, later } = found;
  return preflightChecks.map((check): Checked => {
    if (check === 'configuration' && later !== undefined) return { check, result: 'later', message: later };
    const problem = problems.find((candidate) => candidate.check === check);
    if (problem === undefined) return { check, result: 'passed', message: '' };
    return { check, result: skipped.includes(check) ? 'skipped' : 'failed', message: problem.message };
  });
}

function rowOf({ check, result, message }: Checked, paint: Paint): string[] {
  const meaning = { passed: 'ok', failed: 'fails', skipped: 'waits', later: 'waits' } as const;
  return [check, paint(meaning[result], result), message];
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

/** What is known of the kube-apiserver of a version: whether it accepts what users decide about it. */
interface ConfigurationResult {
  /** `later`: it is asked when the spec has the version. */
  readonly result: 'passed' | 'failed' | 'later';
  readonly message: string;
}

/** The result of the check before an upgrade to a version, which the operator makes once the spec asks for it. */
export function configurationResult({ object }: ControlPlane, version: string): ConfigurationResult {
  const { metadata, spec, status } = object;
  const { namespace } = metadata;
  if (checkedConfiguration({ namespace, spec: { ...spec, version } }) === undefined) {
    return { result: 'passed', message: '' };
  }
  const condition = (type: string) => status?.conditions?.find((candidate) => candidate.type === type);
  if (kubernetesVersion(spec.version) === version && status?.observedGeneration === metadata.generation) {
    const accepted = condition('APIServerConfigurationAccepted');
    if (accepted?.status === 'True') return { result: 'passed', message: '' };
    if (accepted?.reason === 'ConfigurationRefused') return { result: 'failed', message: accepted.message };
  }
  const message = `once the spec has the version, kube-apiserver ${version} checks flags, token issuers and audit settings before anything changes, and holds the upgrade while it refuses them`;
  return { result: 'later', message };
}
