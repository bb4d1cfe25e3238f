import { describe, expect, it } from 'vitest';
import { konnectivityServerFlags } from '../../../constructs/control-plane/api-server/konnectivity-server.ts';
import type { Facts } from '../../../constructs/cluster/facts.ts';
import { releaseOf } from '../../../constructs/cluster/release-revisions.ts';
import { renderWorkload } from '../../../constructs/workload/chart.ts';
import { clusterOf, knownFacts } from '../../support/rendered-cluster.ts';
import { RenderedPart } from '../../support/rendered-hosted-cluster.ts';

const agent = (settings: object = {}, facts: Partial<Facts> = {}) =>
  new RenderedPart('konnectivity-agent', { spec: { konnectivityClient: settings } }, facts);
const behindAGateway: Partial<Facts> = {
  endpoint: { host: 'c1.example.org', port: 443 },
  konnectivityEndpoint: { host: 'konnectivity.c1.example.org', port: 8443 },
};

describe('the konnectivity agent', () => {
  it('connects to the konnectivity endpoint, and to the API server for the server count', () => {
    const { args, environment } = agent({}, behindAGateway);
    expect(args).toContain('--proxy-server-host=konnectivity.c1.example.org');
    expect(args).toContain('--proxy-server-port=8443');
    expect(args).toContain('--count-server-leases=true');
    expect(environment).toMatchObject({ KUBERNETES_SERVICE_HOST: 'c1.example.org', KUBERNETES_SERVICE_PORT: '443' });
  });

  it('authenticates with a token of the service account and audience that the servers expect', () => {
    const server = Object.fromEntries(konnectivityServerFlags.map(([name, value]) => [name, value]));
    const { workload, args } = agent();
    const tokens = workload.pod.volumes?.flatMap(({ projected }) => projected?.sources ?? []);
    expect(tokens).toEqual([
      {
        serviceAccountToken: expect.objectContaining({ audience: server['authentication-audience'] }) as unknown,
      },
    ]);
    expect(workload.pod.serviceAccountName).toBe(server['agent-service-account']);
    expect(workload.object.metadata.namespace).toBe(server['agent-namespace']);
    expect(args).toContain('--service-account-token-path=/var/run/secrets/tokens/konnectivity-agent-token');
  });

  it('works without pod network and DNS', () => {
    const { pod } = agent().workload;
    expect(pod).toMatchObject({ hostNetwork: true, dnsPolicy: 'Default' });
    const tolerated = pod.tolerations?.map(({ key }) => key);
    expect(tolerated).toEqual(
      expect.arrayContaining(['node.kubernetes.io/not-ready', 'node.kubernetes.io/network-unavailable']),
    );
  });

  it('leaves a node that is being drained', () => {
    const tolerations = agent().workload.pod.tolerations ?? [];
    expect(tolerations.filter(({ key }) => !key || key === 'node.kubernetes.io/unschedulable')).toEqual([]);
  });

  it('has a unique id at the servers: with two agents of one id the older one gets the requests, even while it terminates', () => {
    const { args, workload } = agent();
    expect(args).toContain('--agent-id=$(POD_NAME)');
    expect(workload.containers[0]?.env).toContainEqual({
      name: 'POD_NAME',
      valueFrom: { fieldRef: { fieldPath: 'metadata.name' } },
    });
  });

  it('is stopped once the next one serves on the same node', () => {
    const { object } = agent().workload;
    expect(object['spec']).toMatchObject({ strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } });
    const placeOf = (settings: object, facts?: Partial<Facts>) => {
      const { workload, args } = agent(settings, facts);
      const [{ readinessProbe } = {}] = workload.containers;
      const host = String(readinessProbe?.httpGet?.host);
      expect(args).toEqual(expect.arrayContaining([`--health-server-host=${host}`, `--admin-bind-address=${host}`]));
      return host;
    };
    const places = [placeOf({}), placeOf({ args: { v: '4' } }), placeOf({}, behindAGateway)];
    for (const place of places) expect(place).toMatch(/^127\.([1-9]\d*)\.\d+\.[1-9]\d*$/);
    expect(new Set(places).size).toBe(3);
    expect(placeOf({}, { nodes: 5 })).toBe(places[0]);
  });

  it('alone can answer its probes: it has their address and port on its node, from release revision 4 on', () => {
    const [{ ports, readinessProbe, livenessProbe, startupProbe } = {}] = agent().workload.containers;
    const probed = [readinessProbe, livenessProbe, startupProbe].map((probe) => probe?.httpGet);
    const [{ hostIP, hostPort, containerPort } = {}, ...others] = ports ?? [];
    expect(probed).toEqual(probed.map(() => expect.objectContaining({ host: hostIP, port: hostPort })));
    expect([containerPort, others]).toEqual([hostPort, []]);
    const before = { ...clusterOf(), release: releaseOf(36, 3) };
    expect(JSON.stringify(renderWorkload(before, knownFacts, 'konnectivity-agent'))).not.toContain('hostPort');
  });

  it.each([
    [0, 1],
    [1, 1],
    [5, 2],
    [undefined, 1],
  ])('of two replicas has with %s nodes %i', (nodes, replicas) => {
    expect(agent({}, { nodes }).replicas).toBe(replicas);
  });

  it('takes the settings any container has', () => {
    const { workload, args } = agent({
      image: { registry: 'mirror.example.org' },
      args: { v: '4', 'proxy-server-host': 'elsewhere.example.org' },
      priorityClassName: 'networking',
      resources: { requests: { cpu: '50m' } },
    });
    expect(args).toEqual(expect.arrayContaining(['--v=4', '--proxy-server-host=192.0.2.10']));
    expect(workload.pod.priorityClassName).toBe('networking');
    expect(workload.containers[0]).toMatchObject({
      image: 'mirror.example.org/kas-network-proxy/proxy-agent:v0.36.0',
      resources: { requests: { cpu: '50m' } },
    });
  });

  it('is not rendered if it is disabled, nor before the endpoint is known', () => {
    expect(agent({ disabled: true }).objects).toEqual([]);
    expect(agent({}, { konnectivityEndpoint: undefined }).objects).toEqual([]);
  });
});
