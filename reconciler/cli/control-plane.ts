import { exposuresOf, type Gateway } from '../../constructs/api/exposure-spec.ts';
import { pausedAnnotation } from '../../constructs/api/group.ts';
import { parseStoredHostedControlPlane } from '../../constructs/api/parse.ts';
import type { HostedControlPlane as ParsedControlPlane } from '../../constructs/api/hosted-control-plane.ts';
import { Cluster, HostedControlPlane } from '../../constructs/api/resources.ts';
import type { ClusterObject } from '../../imports/cluster-api.ts';
import type { HostedControlPlaneObject } from '../clusters/management/hosted-control-plane-object.ts';
import { clusterOf } from '../clusters/management/owning-cluster.ts';
import { isForbidden } from '../kube/errors.ts';
import type { KubeObject } from '../kube/object.ts';
import { stateOf } from '../reconcile/status/state.ts';
import type { CommandAccess } from './access.ts';
import { cliFieldManager, type Session } from './command.ts';
import { nextCommand } from './format.ts';

/** The control plane of a command that changes it, with the defaults of its spec, as of its last read. */
export interface ControlPlane {
  /** Name of the Cluster. */
  readonly cluster: string;
  readonly object: ParsedControlPlane;
}

/**
 * The control plane of the Cluster with this name, or with this name itself: in a managed topology users only know the
 * name of the Cluster.
 * @throws with the existing names
 */
export async function findControlPlane(session: Session, name: string): Promise<ControlPlane> {
  return readControlPlane(await findObject(session, name));
}

/** The same as it is stored, also if its spec is refused. @throws with the existing names */
export async function findObject({ client, namespace }: Session, name: string): Promise<HostedControlPlaneObject> {
  const { items } = await client.list<HostedControlPlaneObject>(HostedControlPlane, { namespace });
  const object = chosen(items, name);
  if (!object) {
    const problem = `Cluster "${name}" has no HostedControlPlane in namespace ${namespace}`;
    const elsewhere = await namespacesOf(client, name);
    if (elsewhere.length > 0)
      throw new Error(`${problem}; it is in ${elsewhere.join(', ')}: add -n ${elsewhere.join(' or -n ')}`);
    const names = items.map((item) => clusterOf(item) ?? item.metadata.name).sort();
    const there = names.length === 0 ? 'none exists' : `existing: ${names.join(', ')}`;
    throw new Error(`${problem}, ${there}: choose another name, or another namespace with -n`);
  }
  return object;
}

/** The namespaces with a control plane of this name; none for a user who may not list those of all namespaces. */
async function namespacesOf(client: Session['client'], name: string): Promise<string[]> {
  try {
    const { items } = await client.list<HostedControlPlaneObject>(HostedControlPlane);
    const found = items.filter((item) => clusterOf(item) === name || item.metadata.name === name);
    return found.map(({ metadata }) => metadata.namespace ?? '').sort();
  } catch (error) {
    if (isForbidden(error)) return [];
    throw error;
  }
}

/** Parses a control plane. @throws when its spec is invalid, or when no Cluster owns it */
export function readControlPlane(object: KubeObject): ControlPlane {
  const cluster = clusterOf(object);
  const { name } = object.metadata;
  if (cluster === undefined)
    throw new Error(`no Cluster owns HostedControlPlane ${name} yet: create one whose spec.controlPlaneRef names it`);
  // A rule that is newer than the object decides only about what is written.
  const parsed = parseStoredHostedControlPlane(object, 'spec' in object ? object.spec : undefined);
  if (!parsed.valid) throw new Error(`HostedControlPlane ${name} is invalid: ${parsed.message}`);
  return { cluster, object: parsed.hostedControlPlane };
}

function chosen<T extends KubeObject>(items: readonly T[], name: string): T | undefined {
  return items.find((item) => clusterOf(item) === name) ?? items.find(({ metadata }) => metadata.name === name);
}

/** The Gateway that a control plane names; undefined if it is exposed in another way. */
export function gatewayOf({ spec }: HostedControlPlaneObject): Gateway | undefined {
  return exposuresOf(spec ?? {}).find((exposure) => exposure.kind === 'gateway')?.gateway;
}

/** The same for a command that requests something. @throws also when the control plane is being deleted */
export async function findLasting(session: Session, name: string): Promise<ControlPlane> {
  const controlPlane = await findControlPlane(session, name);
  const { cluster, object } = controlPlane;
  if (object.metadata.deletionTimestamp === undefined) return controlPlane;
  throw new Error(`the control plane of ${cluster} is being deleted: the operator does not accept requests for it`);
}

/** The same for a request on which the operator acts at once. @throws also when it is paused: see {@link refusePaused} */
export async function findAttended(session: Session, name: string): Promise<ControlPlane> {
  const controlPlane = await findLasting(session, name);
  await refusePaused(session, controlPlane);
  return controlPlane;
}

/** What a command needs for {@link refusePaused}. */
export const askingForPause: CommandAccess = {
  resource: Cluster,
  verbs: ['get'],
  why: 'whether the Cluster is paused',
};

/** @throws while the operator would not act, because a user or clusterctl has paused it */
export async function refusePaused(session: Session, { cluster, object }: ControlPlane): Promise<void> {
  const { client, namespace } = session;
  if (object.metadata.annotations?.[pausedAnnotation] !== undefined)
    throw new Error(
      `the control plane of ${cluster} is paused, so that the operator does nothing: run ${nextCommand('resume', cluster, namespace)} first`,
    );
  const owner = client.find<ClusterObject>(Cluster, { namespace, name: cluster });
  const isPaused = await owner.then(
    (found) => found?.spec?.paused === true,
    // Who may not read Clusters learns what the operator has seen.
    (error: unknown) => {
      if (!isForbidden(error)) throw error;
      return stateOf(object.status?.conditions).kind === 'paused';
    },
  );
  if (isPaused)
    throw new Error(
      `Cluster ${cluster} is paused, so that the operator does nothing: set spec.paused of the Cluster to false first. clusterctl move leaves it true when it gives up or is interrupted`,
    );
}

/** Changes fields of a control plane, which users can also change. @returns the object as it is stored then */
export function changeControlPlane(
  { client, namespace }: Session,
  { metadata: { name } }: Pick<KubeObject, 'metadata'>,
  patch: object,
): Promise<KubeObject> {
  return client.mergePatch(HostedControlPlane, { namespace, name }, patch, cliFieldManager);
}
