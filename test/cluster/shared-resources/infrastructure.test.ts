import { afterAll, beforeAll, expect, it } from 'vitest';
import { groupOf, Namespace, type Resource } from '../../../constructs/api/resources.ts';
import { publishToInfrastructure } from '../../../reconciler/clusters/exposure/infrastructure-endpoint.ts';
import { RequestCaches } from '../../../reconciler/engine/tasks/request-cache.ts';
import { KubeClient } from '../../../reconciler/kube/client.ts';
import { systemClock } from '../../../reconciler/kube/clock.ts';
import { isNotFound } from '../../../reconciler/kube/errors.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { plainApiServer } from '../../support/plain-api-server.ts';
import { installDefinition } from '../../support/definitions.ts';
import { ShippedRights } from '../../support/shipped-rights.ts';

const namespace = 'team';
const fieldManager = 'infrastructure';
const endpoint = { host: 'c1.example.org', port: 443 };
const theirs = { host: 'theirs.example.org', port: 6443 };

const kindOf = (kind: string): Resource => ({
  apiVersion: 'infra.example.org/v1beta2',
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: true,
});
const BoxCluster = kindOf('BoxCluster');
const BareCluster = kindOf('BareCluster');

interface InfrastructureObject extends KubeObject {
  readonly spec: { readonly controlPlaneEndpoint?: { readonly host: string; readonly port: number } };
}

const server = plainApiServer();
const { client } = server;
let rights: ShippedRights;
/** With the rights of the operator. */
let operator: KubeClient;
afterAll(async () => {
  await operator?.connection.close();
  await rights?.end();
});
beforeAll(async () => {
  const { apiVersion, kind } = Namespace;
  await client.apply({ apiVersion, kind, metadata: { name: namespace } }, { fieldManager });
  rights = await ShippedRights.grant({ client, kubeconfig: server.kubeconfig, namespace });
  await rights.grantInfrastructure(groupOf(BoxCluster));
  operator = new KubeClient(await rights.connect());
  const integer = { type: 'integer', format: 'int32' };
  const controlPlaneEndpoint = { type: 'object', properties: { host: { type: 'string' }, port: integer } };
  const schema = (properties: object) => ({
    type: 'object',
    properties: { spec: { type: 'object', properties: { region: { type: 'string' }, ...properties } } },
  });
  await installDefinition(client, BoxCluster, {
    served: ['v1beta1', 'v1beta2'],
    labels: { 'cluster.x-k8s.io/v1beta2': 'v1beta1_v1beta2' },
    schema: schema({ controlPlaneEndpoint }),
  });
  await installDefinition(client, BareCluster, {
    served: ['v1beta2'],
    labels: { 'cluster.x-k8s.io/v1beta2': 'v1beta2' },
    schema: schema({}),
  });
});

/** Creates an object as its provider does, which owns the fields it writes. */
async function create(resource: Resource, name: string, spec: object): Promise<void> {
  const { apiVersion, kind } = resource;
  const metadata = { namespace, name };
  await client.apply({ apiVersion, kind, metadata, spec }, { fieldManager, resource });
}

function publish(kind: string, name: string) {
  const requestCaches = new RequestCaches(systemClock).of('');
  const reference = { apiGroup: 'infra.example.org', kind, name };
  return publishToInfrastructure({ client: operator, requestCaches, namespace, reference }, endpoint);
}

const endpointOf = async (resource: Resource, name: string) =>
  (await client.get<InfrastructureObject>(resource, { namespace, name })).spec.controlPlaneEndpoint;

it.each<[string, object, object, object]>([
  ['is written if there is none', { region: 'north' }, { endpoint }, endpoint],
  ['is written if it is empty', { controlPlaneEndpoint: { host: '', port: 0 } }, { endpoint }, endpoint],
  [
    'is completed if only the same host is given',
    { controlPlaneEndpoint: { host: endpoint.host, port: 0 } },
    { endpoint },
    endpoint,
  ],
  ['is kept if there is another', { controlPlaneEndpoint: theirs }, { endpoint: theirs }, theirs],
  [
    'is kept if another host is given without a port',
    { controlPlaneEndpoint: { host: theirs.host, port: 0 } },
    { endpoint: { host: theirs.host, port: endpoint.port } },
    { host: theirs.host, port: 0 },
  ],
])('an endpoint %s', async (title, spec, answer, expected) => {
  const name = title.replaceAll(' ', '-');
  await create(BoxCluster, name, spec);
  expect(await publish('BoxCluster', name)).toEqual(answer);
  expect(await endpointOf(BoxCluster, name)).toEqual(expected);
});

it('writes nothing a second time, and nothing but the endpoint', async () => {
  await create(BoxCluster, 'twice', { region: 'north' });
  await publish('BoxCluster', 'twice');
  const first = await client.get<InfrastructureObject>(BoxCluster, { namespace, name: 'twice' });
  await publish('BoxCluster', 'twice');
  const second = await client.get<InfrastructureObject>(BoxCluster, { namespace, name: 'twice' });
  expect(second).toEqual(first);
  expect(first.spec).toEqual({ region: 'north', controlPlaneEndpoint: endpoint });
});

it('does nothing for objects without an endpoint field, missing objects, and kinds that are not installed', async () => {
  await create(BareCluster, 'bare', { region: 'north' });
  expect(await publish('BareCluster', 'bare')).toEqual({});
  expect(await publish('BoxCluster', 'missing')).toBeUndefined();
  expect(await publish('GhostCluster', 'any')).toBeUndefined();
  await expect(client.get(BoxCluster, { namespace, name: 'missing' })).rejects.toSatisfy(isNotFound);
});
