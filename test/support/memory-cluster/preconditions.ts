import type { KubeObject, ObjectMeta } from '../../../reconciler/kube/object.ts';
import { conflict, otherUid } from './failures.ts';

/** @throws when the object of this name is not the one that was meant */
export function requireIdentity(live: KubeObject | undefined, { uid }: ObjectMeta, action: string): void {
  if (live && uid !== undefined && live.metadata.uid !== uid) throw otherUid(action, uid);
}

/** @throws a conflict when the object is not the one, or not at the version, that was meant */
export function requireVersion(
  live: KubeObject | undefined,
  { uid, resourceVersion }: Pick<ObjectMeta, 'uid' | 'resourceVersion'>,
  action: string,
): void {
  if (uid !== undefined && live?.metadata.uid !== uid) {
    throw conflict(
      action,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${live?.metadata.uid ?? ''}`,
    );
  }
  if (resourceVersion !== undefined && live && live.metadata.resourceVersion !== resourceVersion) {
    throw conflict(
      action,
      'the object has been modified; please apply your changes to the latest version and try again',
    );
  }
}
