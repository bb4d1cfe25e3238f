import { clusterNameLabel, heldForAnnotation, keptAnnotation, keyFinalizer } from '../../constructs/api/group.ts';
import {
  ConfigMap,
  HostedControlPlane,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  Secret,
  Service,
  StatefulSet,
} from '../../constructs/api/resources.ts';
import { selectorLabels, selectorOf } from '../../constructs/cluster/labels.ts';
import type { KubernetesApi } from '../kube/client.ts';
import { isNamespaceEnding } from '../kube/errors.ts';
import { type KubeObject, objectKey, objectName } from '../kube/object.ts';
import type { ManagementCluster } from '../clusters/management/cache.ts';
import { owningCluster } from '../clusters/management/owning-cluster.ts';
import type { Reader } from '../clusters/management/view.ts';
import { createDeletionWriter } from '../clusters/management/writer.ts';
import { keptSecrets } from './kept-secrets.ts';
import { discardSecret, heldSecrets, isHeld, releaseSecret, replaceSecret, type SecretWriter } from './held-secret.ts';

/** The key by which the operator reconciles a deleted Secret whose HostedControlPlane is gone; undefined for every other Secret. */
export function orphanKey(secret: KubeObject): string | undefined {
  const { metadata } = secret;
  if (metadata.deletionTimestamp === undefined || !isHeld(secret)) return undefined;
  const owner = metadata.ownerReferences?.find(({ kind }) => kind === HostedControlPlane.kind);
  const name = owner?.name ?? metadata.labels?.[clusterNameLabel];
  return name === undefined ? undefined : objectKey({ name, namespace: metadata.namespace });
}

interface Options {
  readonly client: KubernetesApi;
  readonly management: Pick<ManagementCluster, 'list' | 'readerOf'>;
}

/**
 * Ends the deletion of Secrets whose HostedControlPlane was removed without its finalizer: with its volumes its keys stay, as after a
 * deletion that retains both. In a namespace that is being deleted nothing can stay.
 * @param key of {@link orphanKey}
 */
export async function endOrphans({ client, management }: Options, key: string): Promise<void> {
  const { namespace = '' } = objectName(key);
  const orphans = management.list(Secret).filter((secret) => orphanKey(secret) === key);
  if (orphans.length === 0) return;
  // Not from the cache, which may be behind, and may not have those of other instances.
  const living = (await client.list(HostedControlPlane, { namespace })).items;
  const clusters = new Set(orphans.map(({ metadata }) => metadata.labels?.[clusterNameLabel] ?? ''));
  const owners = orphans.flatMap(({ metadata }) => metadata.ownerReferences?.map(({ uid }) => uid) ?? []);
  for (const cluster of clusters) {
    if (living.some(({ metadata }) => owners.includes(metadata.uid ?? '') || owningCluster(metadata) === cluster))
      continue;
    const writer = createDeletionWriter({ client, namespace, cluster, clusterIsGone: true });
    await endEtcd(writer, management.readerOf(namespace, cluster), living);
    const labelSelector = selectorOf(selectorLabels(cluster, 'etcd'));
    const claims = (await client.list(PersistentVolumeClaim, { namespace, labelSelector })).items;
    const isNeeded = claims.some(({ metadata }) => metadata.deletionTimestamp === undefined);
    for (const held of heldSecrets(cluster, management.readerOf(namespace, cluster))) {
      if (held.copy === undefined && held.original?.metadata.deletionTimestamp === undefined) continue;
      if (isNeeded && keptSecrets(cluster).includes(held.name)) await keepSecret(writer, held);
      else for (const secret of [held.original, held.copy]) if (secret) await discardSecret(writer, secret);
    }
  }
}

/** Deletes etcd, which the garbage collector did not delete with its object. */
async function endEtcd(
  writer: Pick<SecretWriter, 'delete'>,
  reader: Pick<Reader, 'list'>,
  living: readonly KubeObject[],
): Promise<void> {
  for (const resource of [StatefulSet, Service, ConfigMap, PodDisruptionBudget]) {
    for (const object of reader.list(resource, {})) {
      const owner = object.metadata.annotations?.[heldForAnnotation];
      if (owner !== undefined && !living.some(({ metadata }) => metadata.uid === owner))
        await writer.delete(resource, object);
    }
  }
}

/**
 * Replaces a Secret that is being deleted by one without owner, for retained volumes.
 * @returns why it cannot be completed now, as a sentence
 */
export async function keepSecret(
  writer: SecretWriter,
  held: Parameters<typeof replaceSecret>[1],
): Promise<string | undefined> {
  try {
    const annotations = { [keptAnnotation]: 'true' };
    return await replaceSecret(writer, held, { ownerReferences: [], finalizers: [keyFinalizer], annotations });
  } catch (error) {
    if (!isNamespaceEnding(error)) throw error;
    for (const secret of [held.original, held.copy]) if (secret) await releaseSecret(writer, secret);
    return undefined;
  }
}
