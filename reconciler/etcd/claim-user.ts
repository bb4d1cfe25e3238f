import { group } from '../../constructs/api/group.ts';
import { PersistentVolumeClaim } from '../../constructs/api/resources.ts';
import { etcdVolumeClaim } from '../../constructs/cluster/names.ts';
import type { KubeObject, ObjectMeta } from '../kube/object.ts';
import type { ControlPlaneContext } from '../clusters/management/view.ts';
import type { EtcdObservation } from './members.ts';

/** On a volume claim: the uid of the HostedControlPlane whose members have last answered with its data. */
const claimUserAnnotation = `${group}/etcd-used-by`;

const purpose = 'etcd-used-by';

/** Records on the claims of members that answer that this object uses them. Its deletion then deletes them. */
export async function recordUser(
  {
    cluster,
    hostedControlPlane,
    reader,
    writer,
  }: Pick<ControlPlaneContext, 'cluster' | 'hostedControlPlane' | 'reader' | 'writer'>,
  observation: EtcdObservation | undefined,
): Promise<void> {
  const { uid = '' } = hostedControlPlane.metadata;
  for (const { ordinal, status } of observation?.members ?? []) {
    const claim = status && reader.get(PersistentVolumeClaim, etcdVolumeClaim(cluster.name, ordinal));
    if (!claim || claim.metadata.deletionTimestamp || userOf(claim) === uid) continue;
    await writer.setFields(PersistentVolumeClaim, claim, { annotations: { [claimUserAnnotation]: uid } }, purpose);
  }
}

/**
 * Whether a claim was used by this object, or was made for it and never used: an older one may hold what the deletion of an earlier
 * object has retained.
 */
export function isUsedBy(claim: KubeObject, { uid, creationTimestamp = '' }: ObjectMeta): boolean {
  const user = userOf(claim);
  if (user !== undefined) return user === uid;
  return Date.parse(claim.metadata.creationTimestamp ?? '') >= Date.parse(creationTimestamp);
}

function userOf({ metadata }: KubeObject): string | undefined {
  return metadata.annotations?.[claimUserAnnotation];
}
