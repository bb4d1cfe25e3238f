import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { definitions } from '../../../constructs/api/crd.ts';
import { clusterNameLabel } from '../../../constructs/api/group.ts';
import {
  CustomResourceDefinition,
  definitionName,
  Gateway,
  HostedControlPlane,
  IngressRouteTCP,
  Namespace,
  Cluster,
  type Resource,
  tlsRoutes,
  versionOf,
} from '../../../constructs/api/resources.ts';
import { KubeClient } from '../../../reconciler/kube/client.ts';
import { systemClock } from '../../../reconciler/kube/clock.ts';
import { isGone } from '../../../reconciler/kube/errors.ts';
import type { KubeObject, ObjectMeta } from '../../../reconciler/kube/object.ts';
import { ManagementCluster } from '../../../reconciler/clusters/management/cache.ts';
import type { RequestRecord } from '../../../reconciler/kube/request.ts';
import { plainApiServer } from '../../support/plain-api-server.ts';
import { installDefinition } from '../../support/definitions.ts';
import { ShippedRights } from '../../support/shipped-rights.ts';
import { until } from '../../support/until.ts';

const [TLSRoute = Gateway, , oldTLSRoute = Gateway] = tlsRoutes;
const fieldManager = 'test';
const gatewayName = { namespace: 'infra', name: 'shared' };

const server = plainApiServer({ definitions });
const { client } = server;
/** Those of the operator. */
let rights: ShippedRights;
let watching: KubeClient;
let management: ManagementCluster;
let requests: RequestRecord[];
let errors: unknown[];
/** Keys of HostedControlPlanes that a change was reported to. */
let reported: string[];
/** Everything is created in separate namespaces: API servers do not finish the deletion of one without controllers. */
let team: string;
let other: string;
let serial = 0;

beforeAll(async () => {
  await installDefinition(client, Cluster, { served: [versionOf(Cluster)] });
  await client.apply(object(Namespace, { name: 'infra' }), { fieldManager });
});
beforeEach(async () => {
  [requests, errors, reported] = [[], [], []];
  serial += 1;
  [team, other] = [`team-${serial}`, `other-${serial}`];
  for (const name of [team, other]) await client.apply(object(Namespace, { name }), { fieldManager });
  rights = await ShippedRights.grant({ client, kubeconfig: server.kubeconfig, namespace: team });
  watching = new KubeClient(await rights.connect(), { onRequest: (record) => requests.push(record) });
});
afterEach(async () => {
  await management.stop();
  await watching.connection.close();
  await rights.end();
  const { items } = await client.list(HostedControlPlane);
  await Promise.all(items.map(({ metadata }) => client.delete(HostedControlPlane, metadata)));
  for (const resource of [TLSRoute, Gateway, IngressRouteTCP]) {
    await client.delete(CustomResourceDefinition, { name: definitionName(resource) });
    await until(
      `${resource.plural} to be gone`,
      async () => !(await client.find(CustomResourceDefinition, { name: definitionName(resource) })),
    );
  }
});

function object(
  { apiVersion, kind }: Resource,
  metadata: ObjectMeta,
  spec: object = {},
): KubeObject & { readonly spec: object } {
  return { apiVersion, kind, metadata, spec };
}

async function watch(namespace?: string): Promise<void> {
  management = new ManagementCluster({
    client: watching,
    clock: systemClock,
    namespace,
    onError: (error) => errors.push(error),
  });
  management.onSharedResourcesChange((key) => reported.push(key));
  await management.start();
}

async function plane(namespace: string, name: string, spec: object = {}): Promise<string> {
  const given = { version: 'v1.36.0', gateway: gatewayName, ...spec };
  await client.apply(object(HostedControlPlane, { namespace, name }, given), { fieldManager, force: true });
  await until('the HostedControlPlane', () => management.get(HostedControlPlane, { namespace, name }));
  return `${namespace}/${name}`;
}

async function isReported(key: string, what: string, change: () => Promise<unknown>): Promise<void> {
  reported.length = 0;
  await change();
  await until(`the report of ${what} to ${key}`, () => reported.includes(key));
}

describe('an optional API', () => {
  it('is observed when it is installed, when its versions change and when it is removed', async () => {
    await watch();
    const key = await plane(team, 'c1');
    const around = management.sharedResourcesOf(team, 'c1');
    expect([around.servedVersions('TLSRoute'), around.servedVersions('CiliumNetworkPolicy')]).toEqual([[], []]);

    await isReported(key, 'the API', () => installDefinition(client, oldTLSRoute, { served: ['v1alpha2'] }));
    expect(around.servedVersions('TLSRoute')).toEqual(['v1alpha2']);
    await isReported(key, 'the new version', () => installDefinition(client, TLSRoute, { served: ['v1', 'v1alpha2'] }));
    expect(around.servedVersions('TLSRoute')).toEqual(['v1', 'v1alpha2']);
    await isReported(key, 'the end', () => client.delete(CustomResourceDefinition, { name: definitionName(TLSRoute) }));
    expect(around.servedVersions('TLSRoute')).toEqual([]);
  });

  it('lists its objects in any served version', async () => {
    await installDefinition(client, oldTLSRoute, { served: ['v1alpha2'] });
    const route = (resource: Resource, name: string) =>
      object(resource, { namespace: team, name, labels: { [clusterNameLabel]: 'c1' } }, { hostnames: [] });
    await client.apply(route(oldTLSRoute, 'old'), { fieldManager });
    await watch();
    const managementCluster = management.readerOf(team, 'c1');
    const names = () =>
      managementCluster.list(TLSRoute, {}).map(({ apiVersion, metadata }) => `${apiVersion} ${metadata.name}`);
    expect([names(), managementCluster.get(TLSRoute, 'old')?.kind]).toEqual([
      ['gateway.networking.k8s.io/v1alpha2 old'],
      'TLSRoute',
    ]);

    await installDefinition(client, TLSRoute, { served: ['v1alpha2', 'v1'] });
    await until('the new version', () => names().includes('gateway.networking.k8s.io/v1 old'));
    await client.apply(route(TLSRoute, 'new'), { fieldManager });
    await until('the new route', () => names().length === 2);
    await client.delete(TLSRoute, { namespace: team, name: 'old' });
    await until('the deletion', () => names().join() === 'gateway.networking.k8s.io/v1 new');
    await client.delete(CustomResourceDefinition, { name: definitionName(TLSRoute) });
    await until('everything to be gone', () => names().length === 0);
    // An API server that has compacted the version of a watch causes a new list: nothing is lost by that.
    expect(errors.filter((error) => !isGone(error))).toEqual([]);
  });

  it('that is served but cannot be read does not prevent the start', async () => {
    const clientConfig = { url: 'https://127.0.0.1:1/' };
    await installDefinition(client, oldTLSRoute, { served: ['v1alpha2'] });
    await client.apply(object(oldTLSRoute, { namespace: team, name: 'old' }), { fieldManager });
    await installDefinition(client, TLSRoute, {
      served: ['v1alpha2'],
      unread: ['v1'],
      conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig } },
    });
    await watch();
    expect(management.sharedResourcesOf(team, 'c1').servedVersions('TLSRoute')).toEqual(['v1', 'v1alpha2']);
    expect(management.list(TLSRoute)).toEqual([]);
    expect(errors.map(String).join()).toContain('conversion webhook');
  });

  it('causes no requests while nothing changes, and changes of its objects are reported to their owners', async () => {
    await watch();
    await plane(team, 'c1');
    const changes: string[] = [];
    management.onChange((resource, { type, object: changed }) => {
      if (resource === IngressRouteTCP) changes.push(`${type} ${changed.metadata.name}`);
    });
    await installDefinition(client, IngressRouteTCP, { served: ['v1alpha1'] });
    await until('the API', () => management.sharedResourcesOf(team, 'c1').servedVersions('IngressRouteTCP').length > 0);
    const before = requests.length;
    const labels = { [clusterNameLabel]: 'c1', 'app.kubernetes.io/component': 'api-server' };
    await client.apply(object(IngressRouteTCP, { namespace: team, name: 'ours', labels }), { fieldManager });
    await client.apply(object(IngressRouteTCP, { namespace: team, name: 'theirs' }), { fieldManager });
    await client.delete(IngressRouteTCP, { namespace: team, name: 'ours' });
    await until('the deletion', () => changes.includes('deleted ours'));
    expect(changes).toEqual(['added ours', 'deleted ours']);
    expect(requests.slice(before).filter(({ resource }) => resource !== IngressRouteTCP.plural)).toEqual([]);
  });
});

describe('a Gateway', () => {
  it('is observed when it is created, also in another namespace, and when it changes', async () => {
    await watch(team);
    const key = await plane(team, 'c1');
    const around = () => management.sharedResourcesOf(team, 'c1');
    expect(around().gateway(gatewayName)).toBeUndefined();
    await installDefinition(client, Gateway, { served: ['v1'] });
    await until('the API', () => around().servedVersions('Gateway').length > 0);
    around().gateway(gatewayName);

    const listeners = [{ name: 'tls', protocol: 'TLS', port: 443 }];
    await isReported(key, 'the Gateway', () =>
      client.apply(object(Gateway, gatewayName, { listeners }), { fieldManager, force: true }),
    );
    expect(around().gateway(gatewayName)?.spec?.listeners).toEqual(listeners);
    await isReported(key, 'its change', () =>
      client.mergePatch(Gateway, gatewayName, { spec: { listeners: [] } }, { fieldManager }),
    );

    // Reports arrive in the order of changes: a report of either status would stand before that of the end.
    const countRoutes = (attachedRoutes: number) => ({ status: { listeners: [{ name: 'tls', attachedRoutes }] } });
    const seesRoutes = (attachedRoutes: number) =>
      until(`the status with ${attachedRoutes}`, () =>
        isDeepStrictEqual(around().gateway(gatewayName)?.status, countRoutes(attachedRoutes).status),
      );
    await client.mergePatch(Gateway, gatewayName, countRoutes(1), { fieldManager });
    await seesRoutes(1);
    reported.length = 0;
    await client.mergePatch(Gateway, gatewayName, countRoutes(2), { fieldManager });
    await seesRoutes(2);
    expect(reported).toEqual([]);
    await client.delete(Gateway, gatewayName);
    await until('the report of its end', () => reported.length > 0 && around().gateway(gatewayName) === undefined);
    expect(reported).toEqual([key]);
  });
});

describe('the labels of a namespace', () => {
  it('are cached, and their changes are reported to subscribers', async () => {
    await watch(team);
    const key = await plane(team, 'c1');
    const around = management.sharedResourcesOf(team, 'c1');
    expect(around.namespaceLabels()).toEqual({ 'kubernetes.io/metadata.name': team });
    await isReported(key, 'the label', () =>
      client.mergePatch(Namespace, { name: team }, { metadata: { labels: { tier: 'gold' } } }, { fieldManager }),
    );
    expect(around.namespaceLabels()).toMatchObject({ tier: 'gold' });
  });
});

describe('a host name', () => {
  const names = ['c1.example.org', 'konnectivity.c1.example.org'];
  const hosts = names.map((name) => ({ name, gateway: 'infra/shared', heldSince: '2026-01-01T00:00:00Z' }));
  const asking = { controlPlaneEndpoint: { host: 'c1.example.org', port: 443 } };

  it('belongs to the control plane whose status records it, and not to one that asks for it, until that is gone', async () => {
    await watch();
    const holder = await plane(other, 'c1');
    await plane(other, 'c2', asking);
    const held = { fieldManager, subresource: 'status' };
    await client.mergePatch(HostedControlPlane, { namespace: other, name: 'c1' }, { status: { hosts } }, held);
    await until('the record', () => management.sharedResourcesOf(other, 'c1').heldHosts().length > 0);
    const key = await plane(team, 'c1');
    const around = () => management.sharedResourcesOf(team, 'c1');
    expect(around().hostOwner('c1.example.org')).toBe(`HostedControlPlane ${holder}`);
    expect(around().hostOwner('konnectivity.c1.example.org')).toBe(`HostedControlPlane ${holder}`);
    expect(around().hostOwner('free.example.org')).toBeUndefined();
    expect(management.sharedResourcesOf(other, 'c1').hostOwner('c1.example.org')).toBeUndefined();

    around().hostOwner('c1.example.org');
    await isReported(key, 'the end of the claim', () =>
      client.delete(HostedControlPlane, { namespace: other, name: 'c1' }),
    );
    expect(around().hostOwner('c1.example.org')).toBeUndefined();
  });

  it('that this operator records is claimed at once, before the watch reports it', async () => {
    await watch();
    const holder = await plane(other, 'c1');
    await plane(team, 'c1');
    const live = await client.get(HostedControlPlane, { namespace: other, name: 'c1' });
    const written = { ...object(HostedControlPlane, live.metadata, { gateway: gatewayName }), status: { hosts } };
    const resourceVersion = `${Number(live.metadata.resourceVersion) + 1000}`;
    management.remember({ ...written, metadata: { ...live.metadata, resourceVersion } });
    expect(management.sharedResourcesOf(team, 'c1').hostOwner('c1.example.org')).toBe(`HostedControlPlane ${holder}`);
  });

  it('belongs to the route of another owner behind the same Gateway, until that is gone', async () => {
    await installDefinition(client, TLSRoute, { served: ['v1'] });
    await watch(team);
    const key = await plane(team, 'c1');
    const hostOwner = () => management.sharedResourcesOf(team, 'c1').hostOwner('c1.example.org');
    expect(hostOwner()).toBeUndefined();
    const route = object(
      TLSRoute,
      { namespace: other, name: 'shop' },
      { hostnames: ['c1.example.org'], parentRefs: [gatewayName] },
    );
    await isReported(key, 'the route', () => client.apply(route, { fieldManager }));
    expect(hostOwner()).toBe(`TLSRoute ${other}/shop`);
    await isReported(key, 'its end', () => client.delete(TLSRoute, { namespace: other, name: 'shop' }));
    expect(hostOwner()).toBeUndefined();
  });
});
