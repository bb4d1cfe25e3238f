import { blockMoveAnnotation } from '../../../constructs/api/group.ts';
import { kubernetesVersion } from '../../../constructs/cluster/versions.ts';
import { takenFor } from '../../../constructs/api/etcd-status.ts';
import type { ControlPlaneContext } from '../../clusters/management/view.ts';
import type { MoveInput } from '../../run-state/plan-move.ts';
import { type MoveRecord, moveRecordOf } from '../../run-state/move-record.ts';
import { observeRestore } from './observe-restore.ts';
import { isRestored } from './plan-restore.ts';
import { ownerOf } from '../ownership.ts';
import { moveOf } from './request.ts';
import { apiServersOf } from '../../clusters/pods/servers.ts';
import { isHibernationRequested, isMoveRequested, type RunState } from '../../run-state/run-state.ts';

interface Context extends Pick<ControlPlaneContext, 'hostedControlPlane' | 'cluster' | 'reader'> {
  readonly runState: RunState;
}

/** The state of a move, in the management cluster and in the status. @param claimedBy what the bucket says, if it was asked */
export function observeMove(context: Context, claimedBy: string | undefined): MoveInput {
  const { hostedControlPlane, cluster, runState } = context;
  const { metadata, status } = hostedControlPlane;
  const record = moveRecordOf(metadata);
  const { backup, lastVerifiedBackup } = status?.etcd ?? {};
  const isTaken = takenFor(backup).some((one) => one === runState.backups.move);
  return {
    isRequested: isMoveRequested(context),
    uid: metadata.uid ?? '',
    record,
    isRestored: record !== undefined && isRestoredHere(context, record),
    isBlocked: metadata.annotations?.[blockMoveAnnotation] !== undefined,
    claimedBy,
    isHibernated: isHibernationRequested(context),
    hasStore: cluster.spec.etcd.backup !== undefined,
    hasServed: apiServersOf(context) !== undefined,
    isUpgrading: status?.version !== undefined && status.version !== kubernetesVersion(hostedControlPlane.spec.version),
    servers: runState.servers,
    etcd: runState.etcd,
    backup: isTaken ? backup?.lastBackup : undefined,
    verified: lastVerifiedBackup?.name,
  };
}

/** The restore is over, in which the volumes get the data of the record. */
function isRestoredHere({ hostedControlPlane, cluster, reader }: Context, record: MoveRecord): boolean {
  const { id } = moveOf(record, ownerOf(cluster));
  const newest = hostedControlPlane.status?.etcd?.restore;
  const isGoingOn = newest?.request === id && newest.completionTime === undefined;
  return !isGoingOn && isRestored(observeRestore({ cluster, members: cluster.spec.etcd.replicas, reader }).members, id);
}
