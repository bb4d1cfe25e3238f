import { isRestoring } from '../../constructs/api/etcd-status.ts';
import { clusterNameLabel, hibernateWithMachinesAnnotation } from '../../constructs/api/group.ts';
import { Machine, MachinePool } from '../../constructs/api/resources.ts';
import { hibernationOf } from '../backup/causes.ts';
import { terminatingVolumes } from '../etcd/terminating-volumes.ts';
import { isNotFound } from '../kube/errors.ts';
import type { ControlPlaneContext } from '../management/view.ts';
import { observeRestore } from '../restore/observe.ts';
import { settledServersOf, stopOf } from '../pods/servers.ts';
import { type HibernationDecision, type HibernationObservation, planHibernation } from './plan.ts';

type Context = Pick<ControlPlaneContext, 'hostedControlPlane' | 'cluster' | 'reader' | 'writer'>;
type Watched = Omit<Context, 'writer'>;

/** The state of a hibernation. Machines are counted only as long as they can refuse it. */
export async function observeHibernation(context: Context): Promise<HibernationObservation> {
  const watched = observeWatched(context);
  const mustCount = watched.isRequested && watched.servers.wanted.length > 0 && !acceptsMachines(context);
  return { ...watched, machines: mustCount ? await machinesOf(context) : 0 };
}

/** What etcd and its backups do: the next step without Machines, which matter only before anything has stopped. */
export function restOf(context: Watched): HibernationDecision {
  return planHibernation(observeWatched(context));
}

function observeWatched(context: Watched): HibernationObservation {
  const { cluster, hostedControlPlane, reader } = context;
  const { etcd } = observeRestore({ cluster, members: 0, reader });
  const { claims, isQuorumKept } = terminatingVolumes(context);
  return {
    isRequested: isRequested(context),
    isBusy: isRestoring(hostedControlPlane.status?.etcd) || isMoving(context),
    machines: 0,
    servers: settledServersOf(context),
    etcd,
    awaitsBackup: cluster.spec.etcd.backup !== undefined && !isBackedUp(context) && hasContent(hostedControlPlane),
    endangered: isQuorumKept ? [] : claims,
  };
}

/** What the last backup is taken for, once no API server can write any more; undefined before, and without a request. */
export function hibernationChange(context: Watched): string | undefined {
  const stop = isRequested(context) ? stopOf(context) : undefined;
  return stop === undefined ? undefined : hibernationOf(stop);
}

function isBackedUp(context: Watched): boolean {
  const change = hibernationChange(context);
  const taken = context.hostedControlPlane.status?.etcd?.backup?.versionChanges;
  return change !== undefined && (taken?.includes(change) ?? false);
}

function isRequested({ cluster }: Watched): boolean {
  return cluster.spec.hibernate ?? false;
}

/** The preparation of a move that had begun before keeps etcd for its backup. */
function isMoving({ hostedControlPlane: { status } }: Watched): boolean {
  return (
    status?.conditions?.some(
      ({ type, status: is, reason }) => type === 'NoMovePending' && is === 'False' && reason !== 'MoveRefused',
    ) ?? false
  );
}

/** Before workers can join, nothing is worth a backup. */
function hasContent({ status }: Watched['hostedControlPlane']): boolean {
  return status?.initialization?.controlPlaneInitialized ?? false;
}

function acceptsMachines({ hostedControlPlane: { metadata } }: Watched): boolean {
  return (metadata.annotations?.[hibernateWithMachinesAnnotation] ?? '') !== '';
}

async function machinesOf({ cluster, writer }: Context): Promise<number> {
  const labels = { [clusterNameLabel]: cluster.name };
  const lists = await Promise.all([Machine, MachinePool].map((kind) => writer.readAll(kind, labels).catch(none)));
  return lists.flat().length;
}

/** A kind that is not installed has no objects. */
function none(error: unknown): [] {
  if (isNotFound(error)) return [];
  throw error;
}
