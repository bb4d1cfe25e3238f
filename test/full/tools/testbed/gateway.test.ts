import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { TlsRoute } from '../../../../imports/gateway.networking.k8s.io.ts';
import { IngressRouteTcp, IngressRouteTcpSpecRoutesServicesPort } from '../../../../imports/traefik.io.ts';
import { applyObjects } from '../../../tools/testbed/apply-objects.ts';
import { clientOf } from '../../../tools/testbed/access.ts';
import { installAddon } from '../../../tools/testbed/addons.ts';
import { clustersDomain, gatewayAddress, lookupFor } from '../../../tools/testbed/gateway-address.ts';
import { busyboxImage } from '../../../tools/testbed/images.ts';
import { instanceFrom, lanAddress } from '../../../tools/testbed/instance.ts';
import { kubectl, untilNamespaceTakesPods } from '../../../tools/testbed/kubectl.ts';
import { inMachine, type Machine } from '../../../tools/testbed/machine.ts';
import type { Manifest } from '../../../tools/testbed/manifest.ts';
import { addMachine, removeMachine } from '../../../tools/testbed/node-machines.ts';
import { until } from '../../../tools/testbed/progress.ts';
import { startTlsEcho, type TlsEcho } from '../../../tools/testbed/tls-echo.ts';

const instance = instanceFrom(process.env, inject('testbed'));
const namespace = 'gateway-test';
const domain = `${namespace}.${clustersDomain}`;
const lookup = lookupFor(instance);
const clusterHost = `c1.team.${clustersDomain}`;

/** The kinds by which TLS is passed through to a Service by the name that a client requests. */
const ways = [
  { kind: 'TLSRoute', host: `gateway.${domain}`, render: tlsRoute },
  { kind: 'Ingress with the annotation of nginx', host: `ingress.${domain}`, render: ingress },
  { kind: 'IngressRouteTCP', host: `custom.${domain}`, render: ingressRouteTcp },
];

let echo: TlsEcho;

beforeAll(async () => {
  await installAddon(instance, 'traefik', () => {});
  echo = await startTlsEcho(domain);
  const client = await clientOf(instance);
  try {
    await applyObjects(client, [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }]);
    await untilNamespaceTakesPods(instance, namespace);
    await applyObjects(client, [...outsideService('echo', lanAddress(instance, 1), echo.port), sleeper()]);
  } finally {
    await client.connection.close();
  }
});

afterAll(async () => {
  // to its end: the test of add-ons looks at all namespaces, and fails when an object of an earlier test disappears meanwhile
  await kubectl(instance, ['delete', 'namespace', namespace]);
  await echo.close();
});

test('the Gateway is programmed at its fixed address', async () => {
  const gateway = ['--namespace', 'capi-system', 'get', 'gateway', 'capi', '--output'];
  const types = '.status.listeners[0].conditions[?(@.status=="True")].type';
  const answer = await kubectl(instance, [...gateway, `jsonpath={.status.addresses[0].value} {${types}}`]);
  expect(answer).toBe(`${gatewayAddress(instance)} Accepted ResolvedRefs Programmed`);
});

describe.for(ways)('through the kind $kind', ({ host, render }) => {
  test('a client reaches a server outside by name, and each gets the certificate of the other', async () => {
    await kubectl(instance, ['apply', '--filename', '-'], JSON.stringify(render(host, 'echo')));
    const seen = await until({ what: `an answer from ${host}`, timeoutMs: 60_000 }, () => echo.ask(host, lookup));
    expect(seen).toEqual({ serverName: host, client: 'the client' });
  });
});

test('a name without a route does not reach the server', async () => {
  await expect(echo.ask(`unclaimed.${domain}`, lookup)).rejects.toThrow('closed without an answer');
});

describe('a pod', () => {
  const inPod = (script: string): Promise<string> => {
    const exec = ['--namespace', namespace, 'exec', 'sleeper', '--', 'sh', '-c', script];
    return kubectl(instance, exec);
  };

  beforeAll(async () => {
    const ready = ['wait', 'pod/sleeper', '--for=condition=Ready', '--timeout=60s'];
    await kubectl(instance, ['--namespace', namespace, ...ready]);
  });

  test.for([clusterHost, `tunnel.${clusterHost}`])('reaches the gateway as %s', async (name) => {
    expect(await inPod(`timeout 30 nslookup ${name}`)).toContain(`Address: ${gatewayAddress(instance)}`);
    expect(await inPod(connecting(name))).toBe('connected\n');
  });

  test('gets NXDOMAIN at once for an external name', async () => {
    // A busy machine may be late once; a resolver that hangs is late every time.
    const answer = await until({ what: 'an answer at once', timeoutMs: 60_000 }, async () => {
      const text = await inPod('timeout 2 nslookup example.org || true');
      return text.includes('example.org:') && text;
    });
    expect(answer).toContain("can't find example.org: SERVFAIL");
  });
});

describe('an added machine', () => {
  let machine: Machine;
  const ask = (name: string, seconds: number): Promise<string> =>
    inMachine(machine, ['timeout', String(seconds), 'getent', 'ahosts', name]);

  beforeAll(async () => {
    machine = await addMachine(instance, 'dnsasker');
  });

  afterAll(async () => {
    await removeMachine(instance, 'dnsasker');
  });

  test('reaches the gateway by name', async () => {
    expect(await ask(clusterHost, 30)).toContain(`${gatewayAddress(instance)} `);
    expect(await inMachine(machine, ['busybox', 'sh', '-c', connecting(clusterHost)])).toBe('connected\n');
  });

  test('gets NXDOMAIN at once for an external name', async () => {
    // A busy machine may be late once; a resolver that hangs is late every time. 2 is getent's code, 124 that of a timeout.
    const answer = await until({ what: 'an answer at once', timeoutMs: 60_000 }, async () => {
      const text = await ask('example.org', 2).catch(String);
      return !text.includes('exit code 124') && text;
    });
    expect(answer).toContain('exit code 2');
  });
});

/** A script that reports whether port 443 accepts connections. */
function connecting(host: string): string {
  return `timeout 30 nc ${host} 443 </dev/null && echo connected`;
}

/** A Service without a selector, whose only endpoint is not a pod. */
function outsideService(name: string, address: string, port: number): Manifest[] {
  const ports = [{ name: 'tls', port, protocol: 'TCP' }];
  const servicePorts = [{ name: 'tls', port: 443, protocol: 'TCP', targetPort: port }];
  const labels = { 'kubernetes.io/service-name': name };
  return [
    { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace }, spec: { ports: servicePorts } },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name, namespace, labels },
      addressType: 'IPv4',
      ports,
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
    },
  ];
}

function sleeper(): Manifest {
  const container = { name: 'sleeper', image: busyboxImage, command: ['sleep', '3600'] };
  const spec = { terminationGracePeriodSeconds: 0, containers: [container] };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'sleeper', namespace }, spec };
}

function tlsRoute(host: string, service: string): Manifest {
  const parentRefs = [{ name: 'capi', namespace: 'capi-system', sectionName: 'tls-passthrough' }];
  const rules = [{ backendRefs: [{ name: service, port: 443 }] }];
  return TlsRoute.manifest({ metadata: { name: service, namespace }, spec: { parentRefs, hostnames: [host], rules } });
}

function ingress(host: string, service: string): Manifest {
  const annotations = { 'nginx.ingress.kubernetes.io/ssl-passthrough': 'true' };
  const backend = { service: { name: service, port: { number: 443 } } };
  const rules = [{ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }];
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: service, namespace, annotations },
    spec: { ingressClassName: 'nginx', rules },
  };
}

function ingressRouteTcp(host: string, service: string): Manifest {
  const port = IngressRouteTcpSpecRoutesServicesPort.fromNumber(443);
  const routes = [{ match: `HostSNI(\`${host}\`)`, services: [{ name: service, port }] }];
  const spec = { entryPoints: ['websecure'], routes, tls: { passthrough: true } };
  return IngressRouteTcp.manifest({ metadata: { name: service, namespace }, spec });
}
