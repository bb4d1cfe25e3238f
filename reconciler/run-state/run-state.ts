import type { StatefulSetObject } from '../../imports/kubernetes.ts';
import { isRestoring } from '../../constructs/api/etcd-status.ts';
import { prepareMoveAnnotation } from '../../constructs/api/group.ts';
import { Pod, StatefulSet } from '../../constructs/api/resources.ts';
import { selectorLabels } from '../../constructs/cluster/labels.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import type { ControlPlaneContext } from '../clusters/management/view.ts';
import { isPrepared } from './move-record.ts';
import { hasReplicas, settledServersOf, stopOf } from '../clusters/pods/servers.ts';
import type { Running, StopLevel } from './plan-stop.ts';

/** Why a control plane stops. A deletion removes its workloads instead, in `phases/deletion.ts`. */
export type StopReason = 'restore' | 'move' | 'hibernation';

/** Whether a control plane serves or stops, by one observation at the start of a reconcile. */
export interface RunState extends Running {
  /** The reason that has the control plane: it alone stops and starts it. Undefined while it serves. */
  readonly because: StopReason | undefined;
  /** How far that reason stops it. */
  readonly level: 'Serving' | StopLevel;
  /**
   * What a backup of all data is taken for, by its reason, once no API server can write any more. Each stop has another text: a
   * backup of the time before does not count.
   */
  readonly backups: Partial<Readonly<Record<StopReason, string>>>;
}

type Context = Pick<ControlPlaneContext, 'hostedControlPlane' | 'cluster' | 'reader'>;

interface Row {
  readonly because: StopReason;
  readonly level: StopLevel;
  /** Whether this reason has the control plane, or would have it. */
  readonly holds: (context: Context) => boolean;
  /** Whether a backup of all data follows the stop of the API servers. @default never */
  readonly wantsBackup?: (context: Context) => boolean;
}

/** The first reason that holds has the control plane. The others wait until it is over. */
const rows: readonly Row[] = [
  {
    because: 'restore',
    level: 'AllStopped',
    holds: ({ hostedControlPlane }) => isRestoring(hostedControlPlane.status?.etcd),
  },
  { because: 'move', level: 'ServersStopped', holds: isMoving, wantsBackup: isMoveRequested },
  { because: 'hibernation', level: 'AllStopped', holds: isHibernationRequested, wantsBackup: isHibernationRequested },
];

/** Whether the control plane serves or stops, why, and what of it runs. */
export function observeRunState(context: Context): RunState {
  const { cluster, reader } = context;
  const row = rows.find(({ holds }) => holds(context));
  const stop = stopOf(context);
  const backups = rows.flatMap(({ because, wantsBackup }) =>
    stop !== undefined && wantsBackup?.(context) ? [[because, stopChange(because, stop)]] : [],
  );
  const set = reader.get<StatefulSetObject>(StatefulSet, namesOf(cluster.name).etcd);
  const members = reader.list(Pod, selectorLabels(cluster.name, 'etcd'));
  return {
    because: row?.because,
    level: row?.level ?? 'Serving',
    servers: settledServersOf(context),
    etcd: { isWanted: hasReplicas(set), pods: members.map(({ metadata }) => metadata.name) },
    backups: Object.fromEntries(backups) as RunState['backups'],
  };
}

/** A stop of the API servers, after which a backup holds all data, as a change that waits for one. @param stop identifies it */
export function stopChange(because: StopReason, stop: string): string {
  return `${because} ${stop}`;
}

/** Whether such a change is a hibernation. */
export function isHibernation(change: string): boolean {
  return change.startsWith(stopChange('hibernation', ''));
}

/** Whether the preparation of a move has begun: it keeps etcd for its backup. */
function isMoving({ hostedControlPlane: { metadata, status } }: Context): boolean {
  const pending = status?.conditions?.find(({ type }) => type === 'NoMovePending');
  return isPrepared(metadata) || (pending?.status === 'False' && pending.reason !== 'MoveRefused');
}

export function isMoveRequested({ hostedControlPlane: { metadata } }: Pick<Context, 'hostedControlPlane'>): boolean {
  return (metadata.annotations?.[prepareMoveAnnotation] ?? '') !== '';
}

export function isHibernationRequested({ cluster }: Pick<Context, 'cluster'>): boolean {
  return cluster.spec.hibernate ?? false;
}
