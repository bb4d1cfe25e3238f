import { clusterNameLabel, hibernateWithMachinesAnnotation } from '../../constructs/api/group.ts';
import { Machine, MachinePool } from '../../constructs/api/resources.ts';
import { takenFor } from '../../constructs/api/etcd-status.ts';
import { terminatingVolumes } from '../etcd/terminating-volumes.ts';
import { isNotFound } from '../kube/errors.ts';
import type { ControlPlaneContext } from '../clusters/management/view.ts';
import type { RunState } from './run-state.ts';
import { type HibernationDecision, type HibernationInput, planHibernation } from './plan-hibernation.ts';

interface Watched extends Pick<ControlPlaneContext, 'hostedControlPlane' | 'cluster' | 'reader'> {
  readonly runState: RunState;
}
type Context = Watched & Pick<ControlPlaneContext, 'writer'>;

/** The state of a hibernation. Machines are counted only as long as they can refuse it. */
export async function observeHibernation(context: Context): Promise<HibernationInput> {
  const watched = observeWatched(context);
  const mustCount = watched.isDue && watched.servers.wanted.length > 0 && !acceptsMachines(context);
  return { ...watched, machines: mustCount ? await machinesOf(context) : 0 };
}

/** What etcd and its backups do: the next step without Machines, which matter only before anything has stopped. */
export function nextHibernationStep(context: Watched): HibernationDecision {
  return planHibernation(observeWatched(context));
}

function observeWatched(context: Watched): HibernationInput {
  const { cluster, hostedControlPlane, runState } = context;
  const { servers, etcd, because } = runState;
  const { claims, isQuorumKept } = terminatingVolumes(context);
  return {
    isDue: because === 'hibernation',
    machines: 0,
    servers,
    etcd,
    awaitsBackup: cluster.spec.etcd.backup !== undefined && !isBackedUp(context) && hasContent(hostedControlPlane),
    endangered: isQuorumKept ? [] : claims,
  };
}

function isBackedUp({ hostedControlPlane, runState }: Watched): boolean {
  return takenFor(hostedControlPlane.status?.etcd?.backup).some((one) => one === runState.backups.hibernation);
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
