import type { EtcdStatus } from '../../constructs/api/etcd-status.ts';
import type { WorkState } from '../tasks/background-work.ts';
import { etcdHealth } from '../etcd/health.ts';
import type { RestoreContext } from './context.ts';
import type { PreparedBackup } from './prepare.ts';
import { requestOf, type RestoreRequest, runId } from './request.ts';

/** The newest restore that the status knows of. */
export type RestoreRecord = NonNullable<EtcdStatus['restore']>;

/** How far the restore is that is asked for now. */
export interface Restoring {
  readonly request: RestoreRequest;
  readonly record: RestoreRecord | undefined;
  /** Id of the run that works for the request; meaningful once it has begun. */
  readonly run: string;
  /** The backup that was chosen and checked; undefined before that, and for a process that did not do it itself. */
  readonly prepared: PreparedBackup | undefined;
}

/** Name of the slow work that chooses a backup and checks it. */
export const prepareWork = 'etcd-restore';

/** What is asked for and how far it is; the request is undefined when nothing is asked for. */
export function restoringOf(
  scope: RestoreContext,
): Omit<Restoring, 'request'> & { readonly request: RestoreRequest | undefined } {
  const { cluster, hostedControlPlane, work } = scope;
  const record = hostedControlPlane.status?.etcd?.restore;
  const request = requestOf(cluster.spec.etcd, cluster, {
    isLost: isQuorumLost(scope),
    begun: record?.completionTime === undefined ? record?.request : undefined,
  });
  const run = runId(request?.id ?? '', record?.startTime ?? '', cluster.spec.etcd.replicas);
  return { request, record, run, prepared: preparedFor(request, record, work.state<PreparedBackup>(prepareWork)) };
}

/** Whether data is taken out of use for this request already. */
export function isBegun(request: RestoreRequest, record: RestoreRecord | undefined): boolean {
  return record?.request === request.id && record.completionTime === undefined;
}

/** What was prepared, if it is for this request and, once it has begun, the backup it has begun with. */
function preparedFor(
  request: RestoreRequest | undefined,
  record: RestoreRecord | undefined,
  state: WorkState<PreparedBackup>,
): PreparedBackup | undefined {
  if (!request || state.kind !== 'done' || state.inputsKey !== request.id) return undefined;
  const isOther = isBegun(request, record) && state.result.backup !== record?.backup;
  return isOther ? undefined : state.result;
}

/** A report is there once members were asked; before, nothing is known, and nothing is done. */
function isQuorumLost({ etcdLoop, hostedControlPlane }: RestoreContext): boolean {
  const report = etcdLoop.report();
  return (
    report !== undefined &&
    ['QuorumLost', 'DataLost'].includes(etcdHealth(report, hostedControlPlane.status?.etcd).reason)
  );
}
