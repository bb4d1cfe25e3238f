import type { KubeObject } from '../../../../reconciler/kube/object.ts';
import type { MemoryApiServer } from '../api-server.ts';
import { foregroundDeletion, orphanDependents } from '../deletion-finalizers.ts';

type OwnerReference = NonNullable<KubeObject['metadata']['ownerReferences']>[number];

/**
 * Deletes what has lost all its owners; what belongs to an owner that is deleted in the foreground, which waits meanwhile for
 * those dependents that block its deletion; and frees the dependents of owners that are deleted without them.
 */
export function collectGarbage(server: MemoryApiServer): void {
  for (let before = -1; before !== server.store.version;) {
    before = server.store.version;
    for (const { kind, apiVersion, metadata } of server.store.objects) {
      const object = server.store.find({ kind, apiVersion }, metadata);
      if (object) attend(server, object);
    }
  }
}

function attend(server: MemoryApiServer, object: KubeObject): void {
  const { deletionTimestamp, finalizers = [], ownerReferences = [] } = object.metadata;
  if (deletionTimestamp && finalizers.includes(orphanDependents)) return free(server, object);
  if (deletionTimestamp && finalizers.includes(foregroundDeletion)) {
    // Dependents are in the queue of the collector before their owner.
    for (const { object: dependent } of dependentsOf(server, object))
      if (!dependent.metadata.deletionTimestamp) attend(server, dependent);
    const blocking = dependentsOf(server, object).filter(({ reference }) => reference.blockOwnerDeletion === true);
    if (blocking.length === 0) withoutFinalizer(server, object, foregroundDeletion);
    return;
  }
  if (deletionTimestamp || ownerReferences.length === 0) return;
  const solid = ownerReferences.filter((owner) => isSolid(server, owner));
  if (solid.length === ownerReferences.length) return;
  if (solid.length > 0) return server.amend('collect', object, { ownerReferences: solid });
  server.end('collect', object, { propagationPolicy: policyFor(server, object) });
}

/** Whether the owner exists and does not wait for the deletion of its dependents. */
function isSolid(server: MemoryApiServer, { uid }: OwnerReference): boolean {
  const owner = server.store.objects.find(({ metadata }) => metadata.uid === uid);
  return owner !== undefined && !isWaiting(owner);
}

function isWaiting({ metadata: { deletionTimestamp, finalizers = [] } }: KubeObject): boolean {
  return deletionTimestamp !== undefined && finalizers.includes(foregroundDeletion);
}

/** What is deleted for an owner that waits is itself deleted in the foreground if it has dependents. */
function policyFor(server: MemoryApiServer, object: KubeObject): 'Background' | 'Foreground' | 'Orphan' {
  const { finalizers = [], ownerReferences = [] } = object.metadata;
  const isAwaited = ownerReferences.some(({ uid }) =>
    server.store.objects.some((owner) => owner.metadata.uid === uid && isWaiting(owner)),
  );
  if (isAwaited && dependentsOf(server, object).length > 0) return 'Foreground';
  if (finalizers.includes(orphanDependents)) return 'Orphan';
  return finalizers.includes(foregroundDeletion) ? 'Foreground' : 'Background';
}

function dependentsOf(
  server: MemoryApiServer,
  owner: KubeObject,
): { readonly object: KubeObject; readonly reference: OwnerReference }[] {
  return server.store.objects.flatMap((object) => {
    const reference = object.metadata.ownerReferences?.find(({ uid }) => uid === owner.metadata.uid);
    return reference ? [{ object, reference }] : [];
  });
}

function free(server: MemoryApiServer, owner: KubeObject): void {
  for (const { object } of dependentsOf(server, owner)) {
    const left = object.metadata.ownerReferences?.filter(({ uid }) => uid !== owner.metadata.uid);
    server.amend('collect', object, { ownerReferences: left });
  }
  withoutFinalizer(server, owner, orphanDependents);
}

function withoutFinalizer(server: MemoryApiServer, object: KubeObject, finalizer: string): void {
  const finalizers = object.metadata.finalizers?.filter((one) => one !== finalizer);
  server.amend('collect', object, { finalizers });
}
