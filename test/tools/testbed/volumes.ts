import type { Resource } from '../../../constructs/api/resources.ts';
import { quantityValue } from '../../../constructs/api/quantity.ts';
import { objectKey, type KubeObject } from '../../../reconciler/kube/object.ts';

/** The default StorageClass of the management cluster, and the provisioner behind it. */
export const storageClassName = 'standard';
export const provisioner = 'testbed.local/directory';

export const PersistentVolume: Resource = {
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  plural: 'persistentvolumes',
  namespaced: false,
};

export interface VolumeClaim extends KubeObject {
  spec: {
    storageClassName?: string;
    volumeName?: string;
    accessModes?: string[];
    resources?: { requests?: { storage?: string } };
  };
  status?: { phase?: string; capacity?: { storage?: string } };
}

export interface Volume extends KubeObject {
  spec: { capacity: { storage: string }; persistentVolumeReclaimPolicy?: string; claimRef?: { uid?: string } };
  status?: { phase?: string };
}

/** An action on a volume. */
export type VolumeAction =
  | { readonly type: 'provision'; readonly claim: VolumeClaim; readonly volume: string }
  | { readonly type: 'expand'; readonly claim: VolumeClaim; readonly volume: string; readonly storage: string }
  | { readonly type: 'delete'; readonly volume: string };

/** What a provisioner with online expansion has to do now. Volumes of others are ignored. */
export function planVolumes(claims: readonly VolumeClaim[], volumes: readonly Volume[]): VolumeAction[] {
  const own = new Map(volumes.filter(isOwn).map((volume) => [volume.metadata.name, volume]));
  return [
    ...claims
      .filter((claim) => claim.spec.storageClassName === storageClassName && !claim.metadata.deletionTimestamp)
      .flatMap((claim) => provision(claim, own) ?? expand(claim, own) ?? []),
    ...[...own.values()].filter(isReleased).map(({ metadata }) => ({ type: 'delete', volume: metadata.name }) as const),
  ];
}

/**
 * The volume of a claim. Of type `local` because the kubelet applies the pod's fsGroup to it, which it does not do for
 * hostPath; the annotation tells the controller manager that this provisioner deletes it.
 */
export function volumeFor(claim: VolumeClaim, path: string, node: string): Volume {
  const { namespace, name, uid } = claim.metadata;
  const expression = { key: 'kubernetes.io/hostname', operator: 'In', values: [node] };
  const spec = {
    capacity: { storage: requested(claim) },
    accessModes: claim.spec.accessModes ?? ['ReadWriteOnce'],
    storageClassName,
    persistentVolumeReclaimPolicy: 'Delete',
    claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid: uid ?? '' },
    local: { path },
    nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [expression] }] } },
  };
  const annotations = { 'pv.kubernetes.io/provisioned-by': provisioner };
  return { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: volumeName(claim), annotations }, spec };
}

function provision(claim: VolumeClaim, own: ReadonlyMap<string, Volume>): VolumeAction | undefined {
  if (claim.spec.volumeName || own.has(volumeName(claim))) return undefined;
  return { type: 'provision', claim, volume: volumeName(claim) };
}

function expand(claim: VolumeClaim, own: ReadonlyMap<string, Volume>): VolumeAction | undefined {
  const volume = own.get(claim.spec.volumeName ?? '');
  const given = claim.status?.capacity?.storage;
  if (!volume || claim.status?.phase !== 'Bound' || given === undefined) return undefined;
  const storage = requested(claim);
  if (quantityValue(storage) <= quantityValue(given)) return undefined;
  return { type: 'expand', claim, volume: volume.metadata.name, storage };
}

function isOwn({ metadata }: Volume): boolean {
  return metadata.annotations?.['pv.kubernetes.io/provisioned-by'] === provisioner;
}

function isReleased({ spec, status, metadata }: Volume): boolean {
  return status?.phase === 'Released' && spec.persistentVolumeReclaimPolicy === 'Delete' && !metadata.deletionTimestamp;
}

function requested(claim: VolumeClaim): string {
  const storage = claim.spec.resources?.requests?.storage;
  if (!storage) throw new Error(`PersistentVolumeClaim ${objectKey(claim.metadata)} requests no storage`);
  return storage;
}

function volumeName(claim: VolumeClaim): string {
  return `pvc-${claim.metadata.uid}`;
}
