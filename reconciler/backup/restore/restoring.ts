import type { EtcdStatus } from '../../../constructs/api/etcd-status.ts';
import type { WorkState } from '../../engine/tasks/background-work.ts';
import { etcdHealth } from '../../etcd/health.ts';
import type { RestoreContext } from './restore-context.ts';
import type { PreparedBackup } from './prepared-backup.ts';
import { arrivedRecord } from '../../run-state/move-record.ts';
import { ownerOf } from '../ownership.ts';
import { moveOf, requestOf, type RestoreRequest, runId } from './request.ts';

/** The newest restore in the status. */
export type RestoreRecord = NonNullable<EtcdStatus['restore']>;

/** The progress of the currently requested restore. */
export interface Restoring {
  readonly request: RestoreRequest;
  readonly record: RestoreRecord | undefined;
  /** ID of the run for the request; valid once the run has begun. */
  readonly run: string;
  /** The chosen and checked backup; undefined before the check, and in a process that did not do the check. */
  readonly prepared: PreparedBackup | undefined;
}

/** Name of the background task that chooses and checks a backup. */
export const prepareWork = 'etcd-restore';

/** The current request and its progress; the request is undefined if there is none. */
export function restoringOf(
  scope: RestoreContext,
): Omit<Restoring, 'request'> & { readonly request: RestoreRequest | undefined } {
  const { cluster, hostedControlPlane, work } = scope;
  const record = hostedControlPlane.status?.etcd?.restore;
  const moved = arrivedRecord(hostedControlPlane.metadata);
  const request = moved
    ? moveOf(moved, ownerOf(cluster))
    : requestOf(cluster.spec.etcd, cluster, {
        isLost: isQuorumLost(scope),
        begun: record?.completionTime === undefined ? record?.request : undefined,
      });
  const run = runId(request?.id ?? '', record?.startTime ?? '', cluster.spec.etcd.replicas);
  return { request, record, run, prepared: preparedFor(request, record, work.state<PreparedBackup>(prepareWork)) };
}

/** Whether data is already taken out of use for this request. */
export function isBegun(request: RestoreRequest, record: RestoreRecord | undefined): boolean {
  return record?.request === request.id && record.completionTime === undefined;
}

/** The prepared backup, if it belongs to this request and, once the restore has begun, is the recorded one. */
function preparedFor(
  request: RestoreRequest | undefined,
  record: RestoreRecord | undefined,
  state: WorkState<PreparedBackup>,
): PreparedBackup | undefined {
  if (!request || state.kind !== 'done' || state.inputsKey !== request.id) return undefined;
  const isOther = isBegun(request, record) && state.result.backup !== record?.backup;
  return isOther ? undefined : state.result;
}

/** The report exists once members were queried. Before that nothing is known, and nothing is done. */
function isQuorumLost({ etcdLoop, hostedControlPlane }: RestoreContext): boolean {
  const report = etcdLoop.report();
  return (
    report !== undefined &&
    ['QuorumLost', 'DataLost'].includes(etcdHealth(report, hostedControlPlane.status?.etcd).reason)
  );
}
