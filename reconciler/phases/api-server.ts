import type { DeploymentObject, PodObject } from '../../imports/kubernetes.ts';
import { recheckMs } from '../clusters/management/users-objects.ts';
import { createHash } from 'node:crypto';
import { Deployment, Pod, resourceNamed } from '../../constructs/api/resources.ts';
import { controlPlaneChart } from './charts.ts';
import { selectorLabels } from '../../constructs/cluster/labels.ts';
import { mountsOf } from '../../constructs/pod/mounts.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import { hasServer, serversOfOtherVersions } from '../desired-state/upgrade/followers.ts';
import { heldBy } from '../desired-state/desired-state.ts';
import type { KubeObject } from '../kube/object.ts';
import { deploymentReadiness, hasEnded, startedPods } from '../kube/readiness.ts';
import { podProblemMeanwhile, unstablePods, waitForPods } from '../clusters/pods/wait-for-pods.ts';
import { degraded, done, type Outcome, type Wait, wait } from '../engine/outcome.ts';
import { phase, type Scope } from './scope.ts';
import { apiServerConfiguration } from './api-server-configuration.ts';
import { audit } from './audit.ts';
import { certificates, etcdCertificates } from './certificates.ts';
import { encryptionAtRest } from './encryption-at-rest.ts';
import { hibernation } from './hibernation.ts';
import { move } from './move.ts';
import { restore } from './restore.ts';
import { authenticationConfiguration } from '../../constructs/control-plane/api-server/authentication.ts';
import type { ControlPlaneContext } from '../clusters/management/view.ts';
import { refreshFiles } from '../clusters/pods/secret-files.ts';

/**
 * The API servers. True when all of them match the spec: only then may other components be upgraded, see
 * {@link DesiredState.followers}. Other phases go on while one of them answers.
 */
export const apiServer = phase({
  condition: 'APIServerDeploymentsReady',
  needs: [certificates, etcdCertificates, restore, move, hibernation, encryptionAtRest, apiServerConfiguration, audit],
  meanwhile: (scope) => podProblemMeanwhile('api-server', scope),
  async run(scope): Promise<Outcome> {
    const { cluster, facts, onRefused, writer, reader } = scope;
    const deployment = reader.get<DeploymentObject>(Deployment, namesOf(cluster.name).apiServer);
    // A restore, the preparation of a move, or hibernation has stopped them.
    const isWanted = (deployment?.spec?.replicas ?? 0) > 0;
    const etcdPods = reader.list<PodObject>(Pod, selectorLabels(cluster.name, 'etcd'));
    const mounts = await observeMounts(scope);

    const quorum = Math.floor(cluster.spec.etcd.replicas / 2) + 1;
    if (!isWanted && startedPods(etcdPods) < quorum) {
      return wait(
        'WaitingForEtcd',
        `${startedPods(etcdPods)} of ${cluster.spec.etcd.replicas} etcd members have started, but a quorum needs ${quorum}: see the condition EtcdClusterReady`,
      );
    }
    if (mounts.missing.length > 0) {
      const message = `the API server mounts ${mounts.missing.join(', ')}, which does not exist: create it, or set optional: true in deployment.apiServer.mounts`;
      return notRolledOut(deployment, wait('MountMissing', message, { afterMs: recheckMs }), scope);
    }

    const withMounts = { ...facts, mounts: mounts.checksums };
    const live = await writer.apply(controlPlaneChart(cluster, withMounts, 'api-server'), { onRefused });
    await refreshAuthentication(scope);

    const applied: DeploymentObject | undefined = live.find(({ kind }) => kind === Deployment.kind);
    const readiness = deploymentReadiness(applied);
    if (!readiness.ready) {
      const { message, isStuck } = readiness;
      return notRolledOut(
        applied,
        await waitForPods('api-server', { message: `API server: ${message}`, isStuck }, scope),
        scope,
      );
    }
    const older = serversOfOtherVersions(scope).map(({ metadata }) => metadata.name);
    if (older.length > 0) {
      const message = `API server: ${older.join(', ')} of another version has not terminated yet`;
      return notRolledOut(applied, await waitForPods('api-server', { message }, scope), scope);
    }
    const unstable = unstablePods('api-server', scope);
    if (unstable) return notRolledOut(applied, wait('PodsFailing', `API server: ${unstable.message}`, unstable), scope);
    const held = heldBy(scope, 'version', 'WaitingForBackup', 'WaitingForRestore');
    return held ? degraded(held.reason, held.because) : done();
  },
});

/** The same while an API server answers, for which other phases do not wait. */
function notRolledOut(deployment: DeploymentObject | undefined, waiting: Wait, { now }: Pick<Scope, 'now'>): Outcome {
  if (!hasServer(deployment)) return waiting;
  const { reason, message, afterMs, isStuck } = waiting;
  const requeueAt = afterMs === undefined ? undefined : new Date(now.getTime() + afterMs);
  return degraded(reason, message, { requeueAt, isStuck });
}

/**
 * Checksums of the objects that users mount. The API server reads such files when it starts, so a change must replace
 * its pods.
 */
async function observeMounts({ cluster, writer }: Scope) {
  const mounts = mountsOf(cluster.spec.deployment.apiServer.mounts);
  const found = await Promise.all(
    mounts.map(async ({ kind, object, optional }) => {
      const name = `${kind}/${object}`;
      return { name, optional, content: await writer.read(resourceNamed(kind), object) };
    }),
  );
  return {
    missing: found.filter(({ content, optional }) => !content && !optional).map(({ name }) => name),
    checksums: Object.fromEntries(found.flatMap(({ name, content }) => (content ? [[name, checksum(content)]] : []))),
  };
}

function checksum(object: KubeObject & { readonly data?: unknown; readonly binaryData?: unknown }): string {
  const content = JSON.stringify([object.data, object.binaryData]);
  return createHash('sha256').update(content).digest('hex').slice(0, 12);
}

/** Makes kubelets write a changed authentication configuration at once. API servers reload it automatically. */
async function refreshAuthentication({
  cluster,
  reader,
  writer,
}: Pick<ControlPlaneContext, 'cluster' | 'reader' | 'writer'>): Promise<void> {
  const configuration = authenticationConfiguration(cluster);
  if (configuration === undefined) return;
  const pods = reader.list<PodObject>(Pod, selectorLabels(cluster.name, 'api-server')).filter((pod) => !hasEnded(pod));
  const version = createHash('sha256').update(configuration).digest('hex');
  await refreshFiles(writer, pods, { purpose: 'authentication', version });
}
