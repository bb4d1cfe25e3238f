import { blockMoveAnnotation, movedDataAnnotation, prepareMoveAnnotation } from '../../constructs/api/group.ts';
import { HostedControlPlane } from '../../constructs/api/resources.ts';
import { parseBackupId } from '../../constructs/cluster/backup-names.ts';
import { degraded, done, type Outcome, wait } from '../engine/outcome.ts';
import { messageOf } from '../kube/error-message.ts';
import { type ControlPlaneContext, refusalKeptMs } from '../clusters/management/view.ts';
import { type MoveDecision, type MoveInput, type MoveRefusal, planMove } from '../run-state/plan-move.ts';
import { type MoveRecord, moveAnnotation, moveRecordOf } from '../run-state/move-record.ts';
import { withBackups } from '../backup/with-backups.ts';
import { backupsOf } from '../backup/restore/source.ts';
import { refusalToStop, stop } from '../run-state/stop.ts';
import { findTask } from '../engine/tasks/task.ts';
import { phase, type Scope } from './scope.ts';
import { restore } from './restore.ts';
import { kubernetesVersion } from '../../constructs/cluster/versions.ts';
import { takenFor } from '../../constructs/api/etcd-status.ts';
import { observeRestore } from '../backup/restore/observe-restore.ts';
import { isRestored } from '../backup/restore/plan-restore.ts';
import { ownerOf } from '../backup/ownership.ts';
import { moveOf } from '../backup/restore/request.ts';
import { apiServersOf } from '../clusters/pods/servers.ts';
import { type RunState, isHibernationRequested, isMoveRequested } from '../run-state/run-state.ts';

/** The purpose that owns the record of a move. */
const purpose = 'move';

const refusals: Readonly<Record<MoveRefusal, string>> = {
  noStore: 'the data of etcd travel in a backup, for which the spec names no bucket: set etcd.backup',
  hibernated: 'it is hibernated, and only a running etcd can be backed up: set spec.hibernate to false first',
  neverServed:
    'this control plane has no API servers yet, and no data to move: delete it, and create it in the other management cluster',
  upgrading: 'its API servers change their version: wait until status.version is the version of the spec',
};

/** Reconciles soon, because what was just written shows the next step. */
const soonMs = 500;

/** No watch reports that a store is available again. */
const retryMs = 30_000;

/**
 * Stops the API servers for a move to another management cluster, and lets `clusterctl move` go on when a verified backup holds
 * all data. The operator of the other management cluster restores that backup, and forgets the move.
 */
export const move = phase({
  condition: 'NoMovePending',
  needs: [restore],
  async run(scope): Promise<Outcome> {
    const { state } = claimTask(scope);
    return act(scope, planMove(observeMove(scope, state.kind === 'done' ? state.result : undefined)));
  },
});

async function act(scope: Scope, decision: MoveDecision): Promise<Outcome> {
  const { hostedControlPlane, cluster, writer } = scope;
  const { uid = '', namespace } = hostedControlPlane.metadata;
  const undo = `to serve here again, run hcp move abort ${cluster.name} --namespace ${namespace}`;
  switch (decision.kind) {
    case 'nothing':
      return done();
    case 'forget':
      // The next move waits again, from this write on.
      await writer.annotate(HostedControlPlane, hostedControlPlane, {
        [movedDataAnnotation]: null,
        [prepareMoveAnnotation]: null,
        [blockMoveAnnotation]: 'etcd',
      });
      return done();
    case 'refuse':
      return degraded('MoveRefused', `no API server was stopped: ${refusals[decision.because]}`);
    case 'stopServers': {
      const refusal = await refusalToStop(scope, 'move', decision);
      if (refusal !== undefined)
        return degraded('MoveRefused', `no API server was stopped, because it could not serve here again: ${refusal}`, {
          requeueAt: new Date(scope.now.getTime() + refusalKeptMs),
        });
      const waiting = await stop(scope, decision);
      return { ...waiting, message: `${waiting.message}; ${undo}` };
    }
    case 'awaitBackup':
      return wait(
        'TakingBackup',
        `the API servers have stopped, and a backup of all data is due: see the condition EtcdBackupReady; ${undo}`,
      );
    case 'awaitVerification':
      return wait(
        'VerifyingBackup',
        `backup ${decision.backup} holds all data, and its verification is due: see the condition EtcdBackupVerified; ${undo}`,
      );
    case 'record': {
      const annotations = moveAnnotation({ uid, backup: decision.backup });
      await writer.setFields(HostedControlPlane, hostedControlPlane, { annotations }, purpose);
      return wait('PreparedForMove', `backup ${decision.backup} holds all data; ${undo}`, { afterMs: soonMs });
    }
    case 'unblock':
      await writer.annotate(HostedControlPlane, hostedControlPlane, { [blockMoveAnnotation]: null });
      return prepared(decision.backup, undo);
    case 'prepared':
      return prepared(decision.backup, undo);
    case 'claim':
      return claim(scope, decision.backup);
    case 'movedAway':
      return wait(
        'MovedAway',
        `the HostedControlPlane with uid ${decision.to} in another management cluster has restored backup ${decision.backup}, and serves: delete this one`,
      );
  }
}

function prepared(backup: string, undo: string): Outcome {
  return wait(
    'PreparedForMove',
    `backup ${backup} holds all data: run clusterctl move, whose target restores it; ${undo}`,
  );
}

/** Asks the bucket whose the data of a prepared move are; the answer does not change any more. */
function claimTask(scope: Scope) {
  const { hostedControlPlane, work, now } = scope;
  const { uid = '', backup = '' } = moveRecordOf(hostedControlPlane.metadata) ?? {};
  return findTask<string>(work, now, { name: 'move-claim', inputsKey: `${uid}/${backup}`, retryMs, turn: 'restore' });
}

/** Claims the data of a prepared move for this object, before its API servers may write again. */
function claim(scope: Scope, backup: string): Outcome {
  const { hostedControlPlane } = scope;
  const task = claimTask(scope);
  const { state } = task;
  if (state.kind === 'failed' && !task.isDue)
    return wait(
      'StoreUnavailable',
      `only the bucket shows whether another management cluster uses the data of backup ${backup}: ${messageOf(state.error)}; if it certainly does not, remove the annotation ${movedDataAnnotation}`,
      { afterMs: retryMs },
    );
  const name = parseBackupId(backup);
  if (task.isDue && name)
    task.start(({ signal }) =>
      withBackups(backupsOf(scope), (backups) =>
        backups.takeMoveLock(name, hostedControlPlane.metadata.uid ?? '', signal),
      ),
    );
  return wait('ClaimingData', `claiming the data of backup ${backup} in the bucket`);
}

interface Context extends Pick<ControlPlaneContext, 'hostedControlPlane' | 'cluster' | 'reader'> {
  readonly runState: RunState;
}

/** The state of a move, in the management cluster and in the status. @param claimedBy what the bucket says, if it was asked */
function observeMove(context: Context, claimedBy: string | undefined): MoveInput {
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
