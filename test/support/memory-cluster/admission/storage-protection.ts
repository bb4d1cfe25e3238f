import { PersistentVolumeClaim } from '../../../../constructs/api/resources.ts';
import type { AnyFields } from '../api-server.ts';
import type { AdmissionRequest } from './admission.ts';

/** The finalizer of volume claims, which stays until no pod uses the claim. */
export const protection = 'kubernetes.io/pvc-protection';

/** A volume claim is born protected. */
export function storageProtection({ resource, object, stored }: AdmissionRequest): AnyFields {
  if (stored || resource.kind !== PersistentVolumeClaim.kind) return object;
  const { finalizers = [] } = object.metadata;
  if (finalizers.includes(protection)) return object;
  return { ...object, metadata: { ...object.metadata, finalizers: [...finalizers, protection] } };
}
