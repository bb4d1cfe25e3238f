import { recheckMs } from '../management/users-objects.ts';
import { createHash } from 'node:crypto';
import { Deployment, Pod, resourceNamed } from '../../constructs/api/resources.ts';
import { renderControlPlane } from '../../constructs/control-plane/chart.ts';
import { selectorLabels } from '../../constructs/cluster/labels.ts';
import { mountsOf } from '../../constructs/pod/mounts.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import { binariesAnnotation, versionAnnotation } from '../../constructs/pod/component.ts';
import { refreshAuthentication } from '../api-server/refresh-authentication.ts';
import { awaitedBackup } from '../upgrade/backup-before-upgrade.ts';
import { awaitedRestore } from '../upgrade/way-back.ts';
import type { KubeObject } from '../kube/object.ts';
import {
  type DeploymentObject,
  deploymentReadiness,
  hasEnded,
  type PodObject,
  startedPods,
} from '../kube/readiness.ts';
import { waitForPods } from '../pods/wait-for-pods.ts';
import { degraded, done, type Outcome, wait } from '../engine/outcome.ts';
import { phase, type Scope } from './scope.ts';
import { apiServerConfiguration } from './api-server-configuration.ts';
import { audit } from './audit.ts';
import { certificates, etcdCertificates } from './certificates.ts';
import { encryptionAtRest } from './encryption-at-rest.ts';
import { hibernation } from './hibernation.ts';
import { move } from './move.ts';
import { restore } from './restore.ts';

/** The API servers. Done when all of them match the spec: only then may other components be upgraded. */
export const apiServer = phase({
  condition: 'APIServerDeploymentsReady',
  needs: [certificates, etcdCertificates, restore, move, hibernation, encryptionAtRest, apiServerConfiguration, audit],
  async run(scope): Promise<Outcome> {
    const { cluster, facts, writer, reader } = scope;
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
      return wait(
        'MountMissing',
        `the API server mounts ${mounts.missing.join(', ')}, which does not exist: create it, or set optional: true in deployment.apiServer.mounts`,
        {
          afterMs: recheckMs,
        },
      );
    }

    const withMounts = { ...facts, mounts: mounts.checksums };
    const live = await writer.apply(renderControlPlane(cluster, withMounts, 'api-server'));
    await refreshAuthentication(scope);

    const readiness = deploymentReadiness(live.find(({ kind }) => kind === Deployment.kind));
    if (!readiness.ready) {
      const { message, isStuck } = readiness;
      return waitForPods('api-server', { message: `API server: ${message}`, isStuck }, scope);
    }
    const older = podsOfOtherVersions(scope);
    if (older.length > 0) {
      return wait('WaitingForPods', `API server: ${older.join(', ')} of another version has not terminated yet`);
    }
    // The cluster of this scope has the version that runs.
    const awaited = awaitedBackup('Kubernetes', scope);
    if (awaited !== undefined) return degraded('WaitingForBackup', awaited, {});
    const restored = awaitedRestore(scope);
    return restored === undefined ? done() : degraded('WaitingForRestore', restored, {});
  },
});

/**
 * The Deployment does not count pods that terminate, but they still answer: a newer controller manager must not reach
 * them.
 */
function podsOfOtherVersions({ cluster, reader }: Scope): string[] {
  return reader
    .list<PodObject>(Pod, selectorLabels(cluster.name, 'api-server'))
    .filter((pod) => {
      const { [versionAnnotation]: version, [binariesAnnotation]: binaries } = pod.metadata.annotations ?? {};
      return !hasEnded(pod) && (version !== cluster.spec.version || binaries !== cluster.binaries);
    })
    .map(({ metadata }) => metadata.name);
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
