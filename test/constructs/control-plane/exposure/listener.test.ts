import { describe, expect, it } from 'vitest';
import { outsidePortAnnotation } from '../../../../constructs/api/group.ts';
import { chooseListener, type ListenerInput } from '../../../../constructs/control-plane/exposure/listener.ts';
import type { ObservedListener } from '../../../../constructs/control-plane/exposure/strategy.ts';

/** The listener of the reference provider's documentation. */
const good: ObservedListener = {
  name: 'tls',
  protocol: 'TLS',
  port: 443,
  hostname: '*.clusters.example.com',
  tls: { mode: 'Passthrough' },
  allowedRoutes: { namespaces: { from: 'All' } },
};
const gatewayName = { namespace: 'capi-system', name: 'capi' };
const question = { gatewayName, namespace: 'team', namespaceLabels: { tier: 'gold' }, preset: {} } as const;

function choose(listeners: readonly ObservedListener[], changes: Partial<ListenerInput> = {}) {
  return chooseListener({ ...question, gateway: { spec: { listeners } }, ...changes });
}

const admitting = (namespaces: NonNullable<ObservedListener['allowedRoutes']>['namespaces']): ObservedListener => ({
  ...good,
  allowedRoutes: { namespaces },
});
const admittingKinds = (...kinds: { group?: string; kind: string }[]): ObservedListener => ({
  ...good,
  allowedRoutes: { ...good.allowedRoutes, kinds },
});
const selecting = (selector?: object) => admitting({ from: 'Selector', ...(selector && { selector }) });
const { hostname: _hostname, ...withoutHostname } = good;
const { tls: _tls, ...withoutTls } = good;
const { allowedRoutes: _allowedRoutes, ...withoutAllowedRoutes } = good;

describe('a suitable listener', () => {
  it.each<[string, ObservedListener, Partial<ListenerInput>]>([
    ['passes TLS through for a wildcard from all namespaces', good, {}],
    ['lists TLSRoute among its kinds', admittingKinds({ kind: 'TCPRoute' }, { kind: 'TLSRoute' }), {}],
    ['lists their group too', admittingKinds({ group: 'gateway.networking.k8s.io', kind: 'TLSRoute' }), {}],
    ['has an empty list of kinds', admittingKinds(), {}],
    ['is in the namespace of the routes', admitting({ from: 'Same' }), { namespace: 'capi-system' }],
    ['has no allowedRoutes, and is in the namespace of the routes', withoutAllowedRoutes, { namespace: 'capi-system' }],
    ['selects the namespace', selecting({ matchLabels: { tier: 'gold' } }), {}],
    ['selects every namespace', selecting({}), {}],
    [
      'selects the namespace by an expression',
      selecting({ matchExpressions: [{ key: 'tier', operator: 'Exists' }] }),
      {},
    ],
    ['has the fixed port', good, { preset: { port: 443 } }],
    ['matches the fixed host', good, { preset: { host: 'Prod.Clusters.Example.com' } }],
    ['matches a fixed host of any depth', good, { preset: { host: 'a.b.c.clusters.example.com', port: 443 } }],
  ])('%s', (_, listener, changes) => {
    expect(choose([listener], changes)).toEqual({
      found: true,
      listener: { name: 'tls', port: 443, domain: 'clusters.example.com' },
    });
  });

  it('is the first one if there are several', () => {
    const listeners = [{ ...good, name: 'http', protocol: 'HTTP' }, good, { ...good, name: 'second', port: 8443 }];
    expect(choose(listeners)).toMatchObject({ listener: { name: 'tls', port: 443 } });
  });

  it('is the one of a fixed endpoint', () => {
    const listeners = [
      good,
      { ...good, name: 'port', port: 8443 },
      { ...good, name: 'host', hostname: '*.other.example.com' },
    ];
    const chosen = (preset: ListenerInput['preset']) => choose(listeners, { preset });
    expect(chosen({ port: 8443 })).toMatchObject({ listener: { name: 'port' } });
    expect(chosen({ host: 'c1.other.example.com' })).toMatchObject({ listener: { name: 'host' } });
    expect(chosen({ host: 'c1.clusters.example.com', port: 443 })).toMatchObject({ listener: { name: 'tls' } });
  });
});

describe('a listener that clients reach at another port than it listens at', () => {
  const inside = { ...good, port: 8443 };
  const chosen = (said: string, preset: ListenerInput['preset'] = {}) =>
    choose([inside], {
      gateway: { metadata: { annotations: { [outsidePortAnnotation]: said } }, spec: { listeners: [inside] } },
      preset,
    });

  it.each<[string, number]>([
    ['443', 443],
    ['tls=443', 443],
    ['tls=443, other=1', 443],
    ['1,tls=443', 443],
    ['other=443', 8443],
    ['', 8443],
  ])('has the port of the annotation %j: %i', (said, port) => {
    expect(chosen(said)).toMatchObject({ found: true, listener: { port } });
  });

  it('serves an endpoint at that port, and none at its own', () => {
    expect(chosen('443', { host: 'c1.clusters.example.com', port: 443 })).toMatchObject({ found: true });
    const refusal = { reason: 'EndpointMismatch', message: expect.stringContaining('*.clusters.example.com:443;') };
    expect(chosen('443', { port: 8443 })).toMatchObject({ found: false, refusal });
  });

  it.each(['https', '0', '65536', 'tls=', 'tls=1=2', '-1'])('is refused for %j, which is no port', (said) => {
    const message = expect.stringContaining(
      `${outsidePortAnnotation} of the Gateway has no port for it, set 443 or tls=443`,
    );
    expect(chosen(said)).toMatchObject({ refusal: { reason: 'GatewayListenerUnsuitable', message } });
  });
});

describe('an unsuitable listener is refused, with a remedy', () => {
  it.each<[string, ObservedListener, string, Partial<ListenerInput>?]>([
    [
      'terminates TLS',
      { ...good, tls: { mode: 'Terminate' } },
      'listener tls: its tls.mode is Terminate, set Passthrough',
    ],
    [
      'uses the default TLS mode',
      { ...good, tls: {} },
      'its tls.mode is not set, which means Terminate, set Passthrough',
    ],
    ['has no TLS settings', withoutTls, 'its tls.mode is not set, which means Terminate'],
    [
      'is for one host',
      { ...good, hostname: 'api.example.com' },
      'its hostname is api.example.com, no wildcard, set a wildcard such as *.api.example.com',
    ],
    ['is for any host', withoutHostname, 'its hostname is not set, set a wildcard such as *.clusters.example.com'],
    [
      'allows other kinds only',
      admittingKinds({ kind: 'TCPRoute' }, { group: 'example.org', kind: 'TLSRoute' }),
      'its allowedRoutes.kinds are TCPRoute and TLSRoute, add TLSRoute',
    ],
    [
      'allows its own namespace only',
      admitting({ from: 'Same' }),
      'its allowedRoutes.namespaces.from is Same, set All or Selector so that namespace team is allowed',
    ],
    ['has no allowedRoutes', withoutAllowedRoutes, 'its allowedRoutes.namespaces.from is Same'],
    [
      'allows no namespace',
      admitting({ from: 'None' }),
      'its allowedRoutes.namespaces.from is None, set All or Selector',
    ],
    [
      'selects other namespaces',
      selecting({ matchLabels: { tier: 'silver' } }),
      'its allowedRoutes.namespaces.selector does not match, change it or the labels so that namespace team is allowed',
    ],
    ['has an empty selector', selecting(), 'its allowedRoutes.namespaces.selector does not match'],
  ])('if it %s', (_, listener, advice) => {
    expect(choose([listener])).toEqual({
      found: false,
      refusal: {
        known: false,
        reason: 'GatewayListenerUnsuitable',
        message: expect.stringContaining(`Gateway capi-system/capi has no suitable listener; listener tls: `),
      },
    });
    expect(choose([listener])).toMatchObject({ refusal: { message: expect.stringContaining(advice) } });
  });

  it('with all problems at once, for every TLS listener', () => {
    const second = { ...good, name: 'second', hostname: 'api.example.com', tls: { mode: 'Terminate' } };
    expect(choose([{ ...good, name: 'http', protocol: 'HTTPS' }, { ...good, tls: {} }, second])).toMatchObject({
      refusal: {
        message:
          'Gateway capi-system/capi has no suitable listener; listener tls: its tls.mode is not set, which means Terminate, set Passthrough; listener second: its hostname is api.example.com, no wildcard, set a wildcard such as *.api.example.com, its tls.mode is Terminate, set Passthrough',
      },
    });
  });

  it('also if no listener is for TLS', () => {
    for (const listeners of [[], [{ ...good, protocol: 'HTTPS' }]]) {
      expect(choose(listeners)).toMatchObject({
        refusal: {
          reason: 'GatewayListenerUnsuitable',
          message: expect.stringContaining('Gateway capi-system/capi has no listener of protocol TLS: add one'),
        },
      });
    }
  });

  it.each<[string, ListenerInput['preset'], string]>([
    ['host is another', { host: 'c1.elsewhere.example.com', port: 443 }, 'which is c1.elsewhere.example.com:443 and'],
    ['host is the bare domain', { host: 'clusters.example.com' }, 'which is clusters.example.com and'],
    ['host only has the same ending', { host: 'c1.myclusters.example.com' }, 'which is c1.myclusters.example.com and'],
    ['port is another', { port: 6443 }, 'which is one with port 6443 and'],
  ])('if its fixed %s', (_, preset, message) => {
    const choice = choose([good, { ...good, name: 'second', port: 8443, tls: {} }], { preset });
    expect(choice).toMatchObject({ found: false, refusal: { reason: 'EndpointMismatch' } });
    expect(choice).toMatchObject({ refusal: { message: expect.stringContaining(message) } });
    expect(choice).toMatchObject({
      refusal: {
        message: expect.stringContaining('cannot change: listener tls serves *.clusters.example.com:443; give'),
      },
    });
  });
});
