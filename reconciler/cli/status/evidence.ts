import type { HostedControlPlaneObject } from '../../clusters/management/hosted-control-plane-object.ts';
import type { EventObject } from '../../../imports/kubernetes.ts';
import type { MachineObject, MachinePoolObject } from '../../../imports/cluster-api.ts';
import type { TLSRouteObject } from '../../../imports/gateway-api.ts';
import { type Gateway as GatewayName, exposuresOf } from '../../../constructs/api/exposure-spec.ts';
import { clusterNameLabel } from '../../../constructs/api/group.ts';
import {
  Deployment,
  Event,
  Gateway,
  Ingress,
  Machine,
  MachinePool,
  PersistentVolumeClaim,
  Pod,
  type Resource,
  ResourceQuota,
  Service,
  TLSRoute,
  tlsRoutes,
} from '../../../constructs/api/resources.ts';
import type { GatewayObject } from '../../clusters/exposure/gateway-object.ts';
import type { KubernetesApi } from '../../kube/client.ts';
import type { Selection } from '../../kube/client-options.ts';
import { messageOf } from '../../kube/error-message.ts';
import { isNotFound, isNotServed } from '../../kube/errors.ts';
import { type KubeObject, objectKey } from '../../kube/object.ts';
import type { CommandAccess } from '../access.ts';
import { clusterOf } from '../../clusters/management/owning-cluster.ts';
import { gatewayOf } from '../control-plane.ts';
import type { Evidence } from './causes.ts';
import type { GatewayEvidence } from './gateway-causes.ts';
import { type Workers, workersOf } from './workers.ts';

const reading =
  (why: string) =>
  (resource: Resource): CommandAccess => ({ resource, verbs: ['list'], why });

/** The rights that {@link gather} needs. It reports what a missing right leaves unknown. */
export const readingEvidence: readonly CommandAccess[] = [
  ...[Event, ResourceQuota].map(reading('what hinders its pods and volumes')),
  ...[Deployment, Pod, PersistentVolumeClaim, Service, Ingress].map(reading('its parts')),
  ...[Machine, MachinePool].map(reading('its workers')),
  ...tlsRoutes.map(reading('what its Gateway says about its routes')),
  { resource: Gateway, verbs: ['get'], why: 'its listeners', where: 'gateway' },
  { resource: Event, verbs: ['list'], why: 'what happened to the Gateway', where: 'gateway' },
];

/** What it reads with. */
export type Reader = Pick<KubernetesApi, 'get' | 'list'>;

/** Reads with the rights of the user. A failure of a read is named, and the rest goes on without it. */
type Tried = <T>(what: string, read: () => Promise<T>, otherwise: T) => Promise<T>;

/**
 * Asks with the user's own rights for what the operator does not read: quotas, and all but a few events.
 * @returns with what this user may not read, and why
 */
export async function gather(
  { client, namespace }: { readonly client: Reader; readonly namespace: string },
  object: HostedControlPlaneObject,
): Promise<{ evidence: Evidence; workers: Workers | null; unknown: string[] }> {
  const unknown: string[] = [];
  const cluster = clusterOf(object) ?? object.metadata.name;
  const labelled = { namespace, labelSelector: `${clusterNameLabel}=${cluster}` };
  const tried: Tried = async (what, read, otherwise) => {
    try {
      return await read();
    } catch (error) {
      unknown.push(`${what}: ${messageOf(error)}`);
      return otherwise;
    }
  };
  const list = <T extends KubeObject>(resource: Resource, selection: Selection = labelled): Promise<T[]> =>
    tried(resource.plural, async () => [...(await client.list<T>(resource, selection)).items], []);
  const behind = gatewayOf(object);
  const isBehindIngress = exposuresOf(object.spec ?? {}).some(({ kind }) => kind === 'ingress');
  const events = await list<EventObject>(Event, { namespace });
  const evidence: Evidence = {
    deployments: await list(Deployment),
    pods: await list(Pod),
    claims: await list(PersistentVolumeClaim),
    services: await list(Service),
    ingresses: isBehindIngress ? await list(Ingress) : [],
    gateway: behind && (await gatherGateway(client, behind, tried, { labelled, events })),
    events,
    quotas: await list(ResourceQuota, { namespace }),
  };
  const served = <T extends KubeObject>(resource: Resource) =>
    tried(resource.plural, () => listServed<T>(client, resource, labelled), undefined);
  const machines = await served<MachineObject>(Machine);
  const pools = await served<MachinePoolObject>(MachinePool);
  return { evidence, workers: machines === undefined ? null : workersOf(machines, pools), unknown };
}

/** Of a kind of Cluster API that is not served, there are none. */
async function listServed<T extends KubeObject>(
  client: Reader,
  resource: Resource,
  selection: Selection,
): Promise<readonly T[] | undefined> {
  try {
    return (await client.list<T>(resource, selection)).items;
  } catch (error) {
    if (isNotServed(error)) return [];
    throw error;
  }
}

/** @param own the selection of the routes, and the events of their namespace */
async function gatherGateway(
  client: Reader,
  name: GatewayName,
  tried: Tried,
  own: { readonly labelled: Selection; readonly events: readonly EventObject[] },
): Promise<GatewayEvidence> {
  const { namespace } = name;
  const gateway = await tried(`${Gateway.kind} ${objectKey(name)}`, () => findGateway(client, name), undefined);
  const about = `regarding.kind=${Gateway.kind},regarding.name=${name.name}`;
  const listEvents = async () => (await client.list<EventObject>(Event, { namespace, fieldSelector: about })).items;
  // Without the Gateway its events explain nothing, and one refusal says enough.
  const isElsewhere = typeof gateway === 'object' && namespace !== own.labelled.namespace;
  return {
    name,
    gateway,
    events: isElsewhere ? await tried(`${Event.plural} in ${namespace}`, listEvents, []) : own.events,
    routes: await tried(TLSRoute.plural, () => listRoutes(client, own.labelled), []),
  };
}

async function findGateway(client: Reader, name: GatewayName): Promise<GatewayEvidence['gateway']> {
  try {
    return await client.get<GatewayObject>(Gateway, name);
  } catch (error) {
    if (isNotServed(error)) return 'NotServed';
    if (isNotFound(error)) return 'NotFound';
    throw error;
  }
}

/** The routes in the first version that the cluster serves. */
async function listRoutes(client: Reader, selection: Selection): Promise<GatewayEvidence['routes']> {
  for (const resource of tlsRoutes) {
    try {
      return (await client.list<TLSRouteObject>(resource, selection)).items;
    } catch (error) {
      if (!isNotServed(error)) throw error;
    }
  }
  return 'NotServed';
}
