import type { KubeObject, ObjectMeta } from '../../../reconciler/kube/object.ts';
import { conflict, otherUid } from './failures.ts';

/** @throws if the stored object does not have the requested uid */
export function requireIdentity(live: KubeObject | undefined, { uid }: ObjectMeta, action: string): void {
  if (live && uid !== undefined && live.metadata.uid !== uid) throw otherUid(action, uid);
}

/** @throws a conflict if the stored object does not have the requested uid or version */
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
