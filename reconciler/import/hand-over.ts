import { minor } from 'semver';
import { pausedAnnotation, rotateAnnotation } from '../../constructs/api/group.ts';
import { Cluster, HostedControlPlane } from '../../constructs/api/resources.ts';
import { namesOf, successorSecretName } from '../../constructs/cluster/names.ts';
import { etcdVersion } from '../../constructs/cluster/versions.ts';
import { cliFieldManager } from '../cli/command.ts';
import type { ClusterObject } from '../../imports/cluster-api.ts';
import type { ImportContext } from './import-context.ts';
import type { ImportRecord } from './record.ts';

/**
 * Gives the control plane to the operator: the Cluster names the HostedControlPlane, which has the snapshot, the endpoint
 * and the request for the rotation in its spec. With the last write it is not paused any more.
 */
export async function handOver(context: ImportContext): Promise<void> {
  const { client, namespace, cluster, controlPlane, record } = context;
  if (!record?.snapshot) throw new Error('the final snapshot is not recorded');
  const { metadata } = controlPlane.object;
  const clusterObject = await client.find<ClusterObject>(Cluster, { namespace, name: cluster });
  const reference = clusterObject?.spec?.controlPlaneRef;
  if (reference?.kind !== HostedControlPlane.kind || reference.name !== metadata.name) {
    const apiGroup = HostedControlPlane.apiVersion.split('/')[0];
    const controlPlaneRef = { apiGroup, kind: HostedControlPlane.kind, name: metadata.name };
    await client.mergePatch(Cluster, { namespace, name: cluster }, { spec: { controlPlaneRef } }, cliFieldManager);
  }
  // Conditions of the other provider would stay for ever, and "Ready" of another control plane until the next reconcile.
  await client.mergePatch(
    HostedControlPlane,
    metadata,
    { status: { conditions: [] } },
    { ...cliFieldManager, subresource: 'status' },
  );
  const patch = handOverPatch(context, record, clusterObject?.spec?.controlPlaneEndpoint);
  await client.mergePatch(HostedControlPlane, metadata, patch, cliFieldManager);
}

/** The patch that lets the operator restore the snapshot and begin. */
export function handOverPatch(
  { cluster, controlPlane: { object } }: Pick<ImportContext, 'cluster' | 'controlPlane'>,
  { snapshot, etcdVersion: written, secrets }: Pick<ImportRecord, 'snapshot' | 'etcdVersion' | 'secrets'>,
  endpoint: { readonly host?: string | undefined; readonly port?: number | undefined } | undefined,
): object {
  const { spec } = object;
  const successor = successorSecretName(namesOf(cluster).secrets.clusterCA);
  const isRotated = secrets.some(({ name }) => name === successor);
  const isNewer = written !== undefined && minor(written) > minor(etcdVersion({ spec }));
  const hasEndpoint = endpoint?.host !== undefined && endpoint.port !== undefined && !spec.controlPlaneEndpoint?.host;
  return {
    metadata: {
      annotations: {
        [pausedAnnotation]: null,
        ...(isRotated ? { [rotateAnnotation('cluster-ca')]: `import of ${snapshot}` } : {}),
      },
    },
    spec: {
      ...(hasEndpoint ? { controlPlaneEndpoint: { host: endpoint.host, port: endpoint.port } } : {}),
      etcd: {
        restore: { backup: snapshot, latest: null, before: null, from: null },
        ...(isNewer ? { version: written } : {}),
      },
    },
  };
}
