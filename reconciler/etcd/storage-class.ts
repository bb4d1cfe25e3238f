import type { PersistentVolumeClaimObject, StatefulSetObject } from '../../imports/kubernetes.ts';
import { PersistentVolumeClaim, type Resource, StatefulSet } from '../../constructs/api/resources.ts';
import type { ConditionReason } from '../../constructs/api/conditions.ts';
import type { KubeObject } from '../kube/object.ts';

/** The StorageClass of etcd's volumes, as requested and as observed. */
interface StorageClassInput {
  /** The class of the spec; undefined for the default class. */
  readonly wanted: string | undefined;
  readonly set: StatefulSetObject | undefined;
  readonly claims: readonly PersistentVolumeClaimObject[];
  /** An etcd cluster has been formed. */
  readonly isFormed: boolean;
}

/** What to do for the StorageClass in the spec. */
export type StorageClassDecision =
  /** Render this class. */
  | {
      readonly kind: 'render';
      readonly storageClass: string | undefined;
      readonly problem?: { readonly reason: Extract<ConditionReason, 'StorageClassChanged'>; readonly message: string };
    }
  /** No volume exists: these objects ask for another class, and must be gone before they are created again. */
  | { readonly kind: 'replace'; readonly objects: readonly (readonly [Resource, KubeObject])[] };

/**
 * Volumes keep the class that they were created with. Until one exists, the class can be corrected: a claim with a class
 * that does not exist would wait forever.
 */
export function planStorageClass({ wanted, set, claims, isFormed }: StorageClassInput): StorageClassDecision {
  const present = set?.spec?.volumeClaimTemplates?.[0]?.spec?.storageClassName;
  const isReplaceable = !isFormed && claims.every(({ status }) => status?.phase === 'Pending');
  if (!set) {
    // Claims without a StatefulSet are left from a replacement that was interrupted.
    return isReplaceable && claims.length > 0 ? replace(claims) : { kind: 'render', storageClass: wanted };
  }
  if (present === wanted) return { kind: 'render', storageClass: wanted };
  if (isReplaceable) return replace(claims, set);
  return {
    kind: 'render',
    storageClass: present,
    problem: {
      reason: 'StorageClassChanged',
      message: `etcd.storageClassName is ${wanted ?? 'not set'}, but the volumes of etcd exist and keep ${present ?? 'the default class'}: set it to that`,
    },
  };
}

function replace(claims: readonly PersistentVolumeClaimObject[], set?: StatefulSetObject): StorageClassDecision {
  const objects: readonly (readonly [Resource, KubeObject])[] = [
    // First, because its controller creates missing claims again.
    ...(set ? [[StatefulSet, set] as const] : []),
    ...claims.map((claim) => [PersistentVolumeClaim, claim] as const),
  ];
  return { kind: 'replace', objects };
}
