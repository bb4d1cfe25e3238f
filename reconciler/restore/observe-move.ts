import { blockMoveAnnotation, prepareMoveAnnotation } from '../../constructs/api/group.ts';
import { kubernetesVersion } from '../../constructs/cluster/versions.ts';
import type { ControlPlaneContext } from '../management/view.ts';
import type { MoveObservation } from '../move/plan.ts';
import { type MoveRecord, moveRecordOf } from '../move/record.ts';
import { observeRestore } from './observe.ts';
import { isRestored } from './plan.ts';
import { moveOf, ownerOf } from './request.ts';
import { apiServersOf, settledServersOf, stopOf } from '../pods/servers.ts';

type Context = Pick<ControlPlaneContext, 'hostedControlPlane' | 'cluster' | 'reader'>;

/** The state of a move, in the management cluster and in the status. @param claimedBy what the bucket says, if it was asked */
export function observeMove(context: Context, claimedBy: string | undefined): MoveObservation {
  const { hostedControlPlane, cluster } = context;
  const { metadata, status } = hostedControlPlane;
  const record = moveRecordOf(metadata);
  const change = moveChange(context);
  const { backup, lastVerifiedBackup } = status?.etcd ?? {};
  const isTaken = change !== undefined && backup?.versionChanges?.includes(change);
  return {
    isRequested: isRequested(context),
    uid: metadata.uid ?? '',
    record,
    isRestored: record !== undefined && isRestoredHere(context, record),
    isBlocked: metadata.annotations?.[blockMoveAnnotation] !== undefined,
    claimedBy,
    isHibernated: cluster.spec.hibernate ?? false,
    hasStore: cluster.spec.etcd.backup !== undefined,
    hasServed: apiServersOf(context) !== undefined,
    isUpgrading: status?.version !== undefined && status.version !== kubernetesVersion(hostedControlPlane.spec.version),
    servers: settledServersOf(context),
    backup: isTaken ? backup?.lastBackup : undefined,
    verified: lastVerifiedBackup?.name,
  };
}

/**
 * What the final backup is taken for, once no API server can write any more; undefined before, and without a request. Each time
 * that API servers stop it is another text: a backup of the time before does not count.
 */
export function moveChange(context: Context): string | undefined {
  const stop = isRequested(context) ? stopOf(context) : undefined;
  return stop === undefined ? undefined : `move ${stop}`;
}

/** The restore is over, in which the volumes get the data of the record. */
function isRestoredHere({ hostedControlPlane, cluster, reader }: Context, record: MoveRecord): boolean {
  const { id } = moveOf(record, ownerOf(cluster));
  const newest = hostedControlPlane.status?.etcd?.restore;
  const isGoingOn = newest?.request === id && newest.completionTime === undefined;
  return !isGoingOn && isRestored(observeRestore({ cluster, members: cluster.spec.etcd.replicas, reader }).members, id);
}

function isRequested({ hostedControlPlane: { metadata } }: Context): boolean {
  return (metadata.annotations?.[prepareMoveAnnotation] ?? '') !== '';
}
