import { describe, expect, it } from 'vitest';
import { clusterNameLabel } from '../../../../constructs/api/group.ts';
import {
  Event,
  Gateway,
  HostedControlPlane,
  Ingress,
  type Resource,
  TLSRoute,
  tlsRoutes,
} from '../../../../constructs/api/resources.ts';
import { status } from '../../../../reconciler/cli/status.ts';
import { messageOf } from '../../../../reconciler/kube/error-message.ts';
import { errorFromStatus } from '../../../../reconciler/kube/errors.ts';
import { gateway as ownGateway, orderedBehindGateway } from '../../../support/loop/behind-gateway.ts';
import { commandSession } from '../../../support/loop/command-session.ts';
import { type MemoryCluster, ourName } from '../../../support/loop/memory-cluster.ts';
import { orderedCluster } from '../../../support/loop/scenario.ts';
import { clusterName, namespace } from '../../../support/scope.ts';

const shared = { namespace: 'infra', name: 'shared' };
const user = { fieldManager: 'user' };
const parentRef = { ...shared, kind: Gateway.kind, sectionName: 'tls' };

/** Creates an object whose status a controller has written. */
async function put({ user: client }: MemoryCluster, resource: Resource, metadata: object, more: object): Promise<void> {
  const { apiVersion, kind } = resource;
  const { status, ...rest } = more as { status?: object };
  const object = { apiVersion, kind, metadata: metadata as { name: string }, ...rest };
  await client.create(object, user);
  if (status) await client.mergePatch(resource, object.metadata, { status }, { ...user, subresource: 'status' });
}

/** Creates the namespace of the shared Gateway, and the Gateway with what its controller reports. */
async function putShared(cluster: MemoryCluster, conditions: readonly object[]): Promise<void> {
  await cluster.user.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: shared.namespace } }, user);
  await put(cluster, Gateway, shared, { spec: { listeners: [] }, status: { conditions } });
}

/** Creates a warning. */
const warning = (cluster: MemoryCluster, where: string, kind: string, name: string, reason: string) =>
  put(
    cluster,
    Event,
    { namespace: where, name: reason.toLowerCase() },
    { type: 'Warning', reason, note: 'says the controller', regarding: { kind, name } },
  );

/** A Ready control plane behind a Gateway of another namespace that has no address, whose route is refused. */
async function behindSharedGateway(): Promise<MemoryCluster> {
  const cluster = await orderedBehindGateway({ gateway: shared });
  const time = new Date(cluster.clock.now()).toISOString();
  const ready = { type: 'Ready', status: 'True', reason: 'Ready', message: '', lastTransitionTime: time };
  await cluster.user.mergePatch(
    HostedControlPlane,
    ourName,
    { status: { conditions: [ready] } },
    { ...user, subresource: 'status' },
  );
  const conditions = ['Accepted', 'Programmed'].map((type) => ({ type, status: 'True', observedGeneration: 1 }));
  await putShared(cluster, conditions);
  const refused = [
    { type: 'Accepted', status: 'False', reason: 'NotAllowedByListeners', message: 'no', observedGeneration: 1 },
  ];
  const labels = { [clusterNameLabel]: clusterName };
  await put(
    cluster,
    TLSRoute,
    { namespace, name: 'c1-api', labels },
    { spec: { parentRefs: [parentRef] }, status: { parents: [{ parentRef, conditions: refused }] } },
  );
  await put(cluster, TLSRoute, { namespace, name: 'other-api' }, { spec: { parentRefs: [parentRef] } });
  await warning(cluster, shared.namespace, Gateway.kind, shared.name, 'NoAddress');
  await warning(cluster, shared.namespace, Gateway.kind, 'another', 'OfAnother');
  await warning(cluster, namespace, Gateway.kind, shared.name, 'OfItsNamesake');
  return cluster;
}

/** What the command prints of causes, what it reports beside them, and fails with, and how often it lists events. */
interface Answer {
  readonly causes: string[];
  readonly reported: string[];
  readonly failure: string | undefined;
  readonly eventLists: number;
}

/** Runs the command as a user who may do all that it asks for but what matches. */
async function run(cluster: MemoryCluster, forbidden?: RegExp, gateway = shared.namespace): Promise<Answer> {
  let eventLists = 0;
  const before = (action: string): void => {
    if (action.startsWith('list events ')) eventLists += 1;
    if (forbidden?.test(action)) throw errorFromStatus(action, 403, { reason: 'Forbidden', message: 'not for you' });
  };
  const { session, printed, reported } = commandSession(cluster, status, { before, elsewhere: { gateway } });
  const ended = status.prepare({ positionals: [clusterName], values: {} })(session);
  const failure = await ended.then(() => undefined, messageOf);
  return { causes: printed.filter((line) => /^[│ ]*[├└]/.test(line)), reported, failure, eventLists };
}

const address = 'Gateway infra/shared: has no address yet: check that the load balancer of its controller gets one';
const refusal =
  '└ TLSRoute c1-api: Gateway infra/shared refuses it: NotAllowedByListeners: no: allow TLSRoutes of this namespace in allowedRoutes of listener tls';

describe('hcp status of a control plane behind a Gateway of another namespace', () => {
  it('names what is wrong with both, also while it is Ready', async () => {
    expect(await run(await behindSharedGateway())).toMatchObject({
      causes: [`├ ${address}`, '│ └ NoAddress 0s ago: says the controller', refusal],
      reported: [],
    });
  });

  it('says to a user who may not read there what is not known, and explains the rest', async () => {
    expect(await run(await behindSharedGateway(), /infra/)).toMatchObject({
      causes: [refusal],
      reported: ['not known: Gateway infra/shared: get Gateway infra/shared: not for you'],
    });
  });

  it('says to a user who may read the Gateway alone that its events are not known', async () => {
    expect(await run(await behindSharedGateway(), /events in infra/)).toMatchObject({
      causes: [`├ ${address}`, refusal],
      reported: ['not known: events in infra: list events in infra: not for you'],
    });
  });

  it('says to a user who may read no routes that they are not known', async () => {
    const { causes, reported } = await run(await behindSharedGateway(), /tlsroutes/);
    expect(causes.join()).not.toContain('TLSRoute');
    expect(reported).toEqual(['not known: tlsroutes: list tlsroutes in team: not for you']);
  });
});

describe('hcp status of what the cluster serves', () => {
  it.each(tlsRoutes)('finds routes in $apiVersion', async (version) => {
    const cluster = await orderedCluster({ exposure: { gateway: shared } });
    await cluster.define(Gateway);
    await cluster.define(version);
    const labels = { [clusterNameLabel]: clusterName };
    await putShared(cluster, [{ type: 'Accepted', status: 'True' }]);
    await put(cluster, version, { namespace, name: 'c1-api', labels }, { spec: { parentRefs: [parentRef] } });
    const { causes, reported, failure } = await run(cluster);
    expect(causes).toContainEqual(expect.stringMatching(/^└ TLSRoute c1-api: no controller has taken it/));
    expect(reported).toEqual([]);
    expect(failure).toBe('the API server of c1 is not available');
  });

  it('says that no version of routes is served, or of Gateways', async () => {
    const cluster = await orderedCluster({ exposure: { gateway: shared } });
    expect((await run(cluster)).causes).toEqual([expect.stringContaining('does not serve the Gateway API')]);
    await cluster.define(Gateway);
    expect((await run(cluster)).causes).toEqual([
      '├ Gateway infra/shared: does not exist: create it',
      expect.stringMatching(/^└ the management cluster does not serve TLSRoute/),
    ]);
  });
});

it('hcp status reads the events of its namespace once for a Gateway in it, and no Gateway for another exposure', async () => {
  const own = await orderedBehindGateway({ gateway: ownGateway });
  await warning(own, namespace, Gateway.kind, ownGateway.name, 'Failed');
  const { causes, eventLists } = await run(own, undefined, namespace);
  expect(causes).toEqual([
    expect.stringMatching(/^└ Gateway team\/web: no controller has taken it: check that GatewayClass any /),
    '  └ Failed 0s ago: says the controller',
  ]);
  expect(eventLists).toBe(1);
  const other = await orderedCluster();
  expect((await run(other)).causes).toEqual([]);
});

it('hcp status reads the Ingresses of a control plane behind an ingress controller', async () => {
  const ingress = { apiHost: 'api.example.org', konnectivityHost: 'k.example.org' };
  const cluster = await orderedCluster({ exposure: { ingress } });
  await put(cluster, Ingress, { namespace, name: 'c1-api', labels: { [clusterNameLabel]: clusterName } }, {});
  await warning(cluster, namespace, Ingress.kind, 'c1-api', 'Rejected');
  expect((await run(cluster)).causes).toEqual(['└ Ingress c1-api', '  └ Rejected 0s ago: says the controller']);
});
