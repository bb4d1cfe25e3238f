import { describe, expect, it } from 'vitest';
import { TLSRoute } from '../../../../constructs/api/resources.ts';
import type { Facts } from '../../../../constructs/cluster/facts.ts';
import { objectLabels } from '../../../../constructs/cluster/labels.ts';
import type { Outcome } from '../../../../reconciler/engine/outcome.ts';
import type { ProbeResult } from '../../../../reconciler/clusters/exposure/endpoint-probes.ts';
import type { KubeObject } from '../../../../reconciler/kube/object.ts';
import { objectsOf, type Rendered } from '../../../../reconciler/kube/rendering.ts';
import { serviceAccess } from '../../../../reconciler/phases/workload/add-ons.ts';
import { createSigningRequest } from '../../../../reconciler/pki/signing-request.ts';
import { createKey } from '../../../../reconciler/pki/key.ts';
import { SigningIssuer } from '../../../support/issuer.ts';
import { accepted } from '../../../support/management-controllers.ts';
import { MemoryObjects } from '../../../support/memory-objects.ts';
import { knownFacts } from '../../../support/rendered-cluster.ts';
import { now, scopeOf, withServer } from '../../../support/scope.ts';
import { probesOf } from '../../../support/trust-probes.ts';

const gateway = { gateway: { namespace: 'gateways', name: 'web' } };
const hosts = { apiHost: 'api.example.org', konnectivityHost: 'agents.example.org' };
const ingress = { ingress: hosts };
const withTunnelHost = { ingress: { ...hosts, tunnelHost: 'tunnel.example.org' } };
const loadBalancer = { loadBalancer: {} };

const unresolved = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
const closed = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });

type Route = 'accepted' | 'refused' | 'not judged' | 'missing';

interface Circumstances {
  readonly access?: string;
  readonly route?: Route;
  /** How the connection to the tunnel fails. */
  readonly failure?: Error;
  readonly certificates?: object;
  readonly facts?: Partial<Facts>;
  /** The result of the probe; by default it tries every time. */
  readonly result?: ProbeResult;
}

/** The outcome, with pods that are available. */
async function run(exposure: object, circumstances: Circumstances = {}): Promise<Outcome> {
  const { access = 'Policy', route = 'accepted', failure, certificates, facts, result } = circumstances;
  const management = withServer(new MemoryObjects());
  if (route !== 'missing') management.put(routeThatIs(route));
  const scope = scopeOf(management, {
    spec: { exposure, inClusterAccess: access, ...(certificates ? { certificates } : {}) },
    facts: {
      ...knownFacts,
      tunnelEndpoint: { host: 'tunnel.example.org', port: 443 },
      gatewayListener: 'tls',
      nodes: 3,
      ...facts,
    },
    hosted: {
      apply: async <T extends KubeObject>(rendered: Rendered) =>
        objectsOf(rendered).map((object) => ({ ...object, status: { availableReplicas: 1 } })) as unknown as T[],
    },
    trustProbes: {
      ...probesOf(management),
      servedBy: async ({ host, serverName, port }) => {
        expect([host, serverName, port]).toEqual(['tunnel.example.org', 'tunnel.example.org', 443]);
        if (failure) throw failure;
        return 'any';
      },
    },
  });
  return serviceAccess.run(result ? { ...scope, tunnelProbe: { probe: async () => result } } : scope);
}

function routeThatIs(state: Exclude<Route, 'missing'>) {
  const { apiVersion, kind } = TLSRoute;
  const parentRef = { ...gateway.gateway, sectionName: 'tls' };
  const metadata = { name: 'c1-tunnel', generation: 1, labels: objectLabels('c1', 'api-server') };
  const route = { apiVersion, kind, metadata, spec: { parentRefs: [parentRef] } };
  const refusal = { type: 'Accepted', status: 'False', reason: 'NotAllowedByListeners', message: 'not here' };
  const parents = {
    accepted: () => accepted(route),
    refused: () => [{ parentRef, conditions: [refusal] }],
    'not judged': () => [],
  }[state]();
  return { ...route, status: { parents } };
}

describe('the Service kubernetes', () => {
  it.each<[string, object, Circumstances]>([
    ['behind a gateway whose tunnel answers', gateway, {}],
    ['behind an ingress whose tunnel answers, and which judges no route', withTunnelHost, { route: 'missing' }],
    ['at an address, whatever the tunnel', loadBalancer, { failure: unresolved, route: 'missing' }],
    ['with proxies on the nodes, whose own step reports them', gateway, { access: 'Proxy', failure: unresolved }],
    ['with an address of its own behind a gateway', gateway, { access: 'LoadBalancer', failure: unresolved }],
  ])('is ready %s', async (_, exposure, circumstances) => {
    expect(await run(exposure, circumstances)).toMatchObject({ kind: 'done' });
  });

  it.each<[string, object, Circumstances, RegExp]>([
    ['behind an ingress without a tunnel host', ingress, {}, /exposure.ingress.tunnelHost is not set: set it to/],
    [
      'with an issuer',
      gateway,
      { certificates: { issuerRef: { name: 'ours' } } },
      /another CA has signed: remove certificates.issuerRef/,
    ],
    [
      'behind a gateway that refuses the route',
      gateway,
      { route: 'refused' },
      /Gateway gateways\/web refuses TLSRoute c1-tunnel: NotAllowedByListeners: not here: allow TLSRoutes/,
    ],
    [
      'behind a gateway that has not judged the route',
      gateway,
      { route: 'not judged' },
      /has not reported yet whether it accepts TLSRoute c1-tunnel: check that its controller is running/,
    ],
    [
      'without a route that a quota refuses',
      gateway,
      { route: 'missing' },
      /TLSRoute c1-tunnel does not exist: check whether a quota or an admission webhook of namespace team/,
    ],
    [
      'when the host does not resolve',
      gateway,
      { failure: unresolved },
      /host tunnel.example.org does not resolve \(ENOTFOUND\): create a DNS record for tunnel.example.org/,
    ],
    [
      'when the host of an ingress does not resolve',
      withTunnelHost,
      { failure: unresolved },
      /host tunnel.example.org does not resolve \(ENOTFOUND\): create a DNS record for tunnel.example.org/,
    ],
    [
      'when the host leads nowhere',
      withTunnelHost,
      { failure: closed },
      /the connection to tunnel.example.org:443 was closed without an answer/,
    ],
  ])('leads nowhere %s, which holds nothing up', async (_, exposure, circumstances, message) => {
    expect(await run(exposure, circumstances)).toMatchObject({
      kind: 'degraded',
      reason: 'ServiceNotServed',
      message: expect.stringMatching(message) as string,
    });
  });

  it('leads nowhere while another CA has signed that of the cluster, which the operator would trust', async () => {
    const issuer = await SigningIssuer.create(now);
    const issued = await issuer.sign(await createSigningRequest({ commonName: 'kubernetes' }, createKey()), { now });
    expect(await run(gateway, { facts: { clusterCA: issued } })).toMatchObject({
      kind: 'degraded',
      reason: 'ServiceNotServed',
      message: expect.stringContaining('rotate the cluster CA to a self-signed one') as string,
    });
    expect(await run(gateway, { facts: { clusterCA: issuer.root.certificate } })).toMatchObject({ kind: 'done' });
  });

  it('is tried again when the probe is, because no event reports a DNS record', async () => {
    const retryAt = new Date('2026-11-21T12:01:00Z');
    expect(await run(gateway, { result: { kind: 'fails', error: unresolved, retryAt } })).toMatchObject({
      requeueAt: retryAt,
    });
    expect(await run(gateway, { result: { kind: 'unknown' } })).toMatchObject({ reason: 'NotObserved' });
  });
});
