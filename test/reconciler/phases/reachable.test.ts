import { beforeEach, expect, it } from 'vitest';
import { Gateway, type Resource, Service, tlsRoutes } from '../../../constructs/api/resources.ts';
import { objectLabels } from '../../../constructs/cluster/labels.ts';
import type { GatewayObject } from '../../../reconciler/clusters/exposure/gateway-object.ts';
import { EndpointProbes } from '../../../reconciler/clusters/exposure/endpoint-probes.ts';
import type { Outcome } from '../../../reconciler/engine/outcome.ts';
import { reachable } from '../../../reconciler/phases/reachable.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { clusterName, scopeOf, withServer } from '../../support/scope.ts';

const [TLSRoute = Service] = tlsRoutes;
let clock: ManualClock;
let management: MemoryObjects;
let probes: EndpointProbes;
let late: string[];
let gateway: GatewayObject;
let requests: number;
let failure: Error | undefined;
/** What an attempt waits for. */
let answering: () => Promise<void>;
beforeEach(() => {
  clock = new ManualClock();
  management = withServer(new MemoryObjects());
  late = [];
  probes = new EndpointProbes({ clock, onResult: (key) => late.push(key) });
  requests = 0;
  failure = undefined;
  answering = async () => {};
  const { apiVersion, kind } = Gateway;
  const spec = { listeners: [{ name: 'tls', protocol: 'TLS', port: 443, hostname: '*.example.org' }] };
  gateway = { apiVersion, kind, metadata: { namespace: 'infra', name: 'shared', uid: '1' }, spec };
});

function run(): Promise<Outcome> {
  const scope = scopeOf(management, {
    spec: { exposure: { gateway: { namespace: 'infra', name: 'shared' } } },
    facts: { endpoint: { host: 'c1.team.example.org', port: 443 } },
    sharedResources: { gateway: () => gateway },
    hosted: {
      readyThroughEndpoint: async () => {
        requests += 1;
        await answering();
        if (failure) throw failure;
      },
    },
    now: new Date(clock.now()),
  });
  return reachable.run({ ...scope, endpointProbe: probes.of('team/c1') });
}

const put = ({ apiVersion, kind }: Resource, resourceVersion: string, cluster = clusterName) =>
  management.put({
    apiVersion,
    kind,
    metadata: { name: `any-${cluster}`, uid: '1', resourceVersion, labels: objectLabels(cluster, 'api-server') },
  });

it('sends one request, and then one every ten minutes', async () => {
  expect([await run(), await run(), requests]).toMatchObject([{ kind: 'done' }, { kind: 'done' }, 1]);
  await clock.advance(10 * 60_000);
  await run();
  expect(requests).toBe(2);
});

const attached = (attachedRoutes: number) => ({ name: 'tls', attachedRoutes });

it.each<[string, () => unknown, number]>([
  ['its route has changed', () => put(TLSRoute, '2'), 2],
  ['its Service has changed', () => put(Service, '2'), 2],
  ['the Gateway has changed', () => (gateway = { ...gateway, status: { addresses: [{ value: '192.0.2.1' }] } }), 2],
  ['the route of another cluster has changed', () => put(TLSRoute, '2', 'c2'), 1],
  [
    'one more route is attached to the Gateway',
    () => (gateway = { ...gateway, status: { listeners: [attached(7)] } }),
    1,
  ],
])('after %s it has sent this many requests', async (_, change, expected) => {
  gateway = { ...gateway, status: { listeners: [{ name: 'tls' }] } };
  await run();
  change();
  await run();
  expect(requests).toBe(expected);
});

it('reports the error until it works, and sends requests less and less often', async () => {
  failure = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
  expect(await run()).toMatchObject({
    kind: 'wait',
    reason: 'EndpointUnreachable',
    message: expect.stringContaining('create a DNS record for *.example.org') as string,
    afterMs: 100,
  });
  await clock.advance(60);
  expect(await run()).toMatchObject({ kind: 'wait', afterMs: 40 });
  expect(requests).toBe(1);
  await clock.advance(40);
  expect(await run()).toMatchObject({ kind: 'wait', afterMs: 200 });
  await clock.advance(200);
  failure = undefined;
  expect(await run()).toMatchObject({ kind: 'done' });
  expect([requests, late]).toEqual([3, []]);
});

it('does not block a reconcile when packets are dropped, and requests another one when it has a result', async () => {
  const silence = Promise.withResolvers<void>();
  answering = () => silence.promise;
  const first = run();
  await clock.advance(250);
  expect(await first).toMatchObject({
    kind: 'wait',
    message: 'no API server has answered at c1.team.example.org:443 yet',
    afterMs: undefined,
  });
  expect(await run()).toMatchObject({ kind: 'wait' });
  silence.reject(new Error('no answer within 5000 ms'));
  await settled();
  expect(late).toEqual(['team/c1']);
  expect(await run()).toMatchObject({ message: expect.stringContaining('no answer within 5000 ms') as string });
  expect(requests).toBe(1);
});
