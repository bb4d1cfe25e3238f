import { PersistentVolumeClaim } from '../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { ControlPlaneContext } from '../../clusters/management/view.ts';
import { isRestoredBy } from './observe-restore.ts';
import { ownerOf } from '../ownership.ts';
import { restoreOf } from './request.ts';
import { isFormationRecorded } from '../../etcd/formation.ts';
import { markOf } from '../../etcd/volume-mark.ts';

type Context = Pick<ControlPlaneContext, 'cluster' | 'hostedControlPlane' | 'reader'>;

/** Whether etcd was ever formed, by any record: the object, its status, or the marks of volume claims. */
export function wasEtcdFormed(context: Context): boolean {
  const { metadata, status } = context.hostedControlPlane;
  return isFormationRecorded(metadata) || status?.etcd?.clusterID !== undefined || markedClaims(context).length > 0;
}

/**
 * Whether volumes hold the data of an earlier HostedControlPlane, such as one with `etcd.volumeRetention: Retain`: they
 * are older than this object. A restore that the spec asks for replaces that data, and brings its own keys, unless it
 * has replaced it already.
 */
export function holdsEarlierData(context: Context): boolean {
  const { hostedControlPlane, cluster } = context;
  const created = Date.parse(hostedControlPlane.metadata.creationTimestamp ?? '');
  const claims = markedClaims(context);
  const { restore } = cluster.spec.etcd;
  if (restore && !claims.some((claim) => isRestoredBy(claim, restoreOf(restore, ownerOf(cluster))))) return false;
  return claims.some(({ metadata }) => Date.parse(metadata.creationTimestamp ?? '') < created);
}

function markedClaims({ cluster, reader }: Context): KubeObject[] {
  return reader
    .list(PersistentVolumeClaim, selectorLabels(cluster.name, 'etcd'))
    .filter((claim) => markOf(claim).memberId !== undefined);
}
