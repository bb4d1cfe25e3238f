import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fieldManager } from '../../../constructs/api/group.ts';
import { resourceOf } from '../../../constructs/api/resources.ts';
import { apiServerFlags } from '../../../constructs/control-plane/api-server/flags.ts';
import type { RenderedObject } from '../../../constructs/control-plane/chart.ts';
import { renderWorkload } from '../../../constructs/workload/chart.ts';
import { objectPath } from '../../../reconciler/kube/resource.ts';
import { startApiServer, type ApiServer } from '../../support/api-server.ts';
import { clusterOf, knownFacts } from '../../support/rendered-cluster.ts';
import { until } from '../../support/until.ts';
import { answered, uniqueName } from '../api/installed-api.ts';
import { Requests } from '../api/requests.ts';

const endpoint = { host: 'c1.team.example.org', port: 8443 };
const facts = { ...knownFacts, endpoint, advertiseAddress: undefined };
const pods = '/api/v1/namespaces/default/pods';
const kubernetes = '/api/v1/namespaces/default/services/kubernetes';

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: object;
}

interface Container {
  readonly name: string;
  readonly image: string;
  readonly env?: readonly Variable[];
  readonly restartPolicy?: string;
}

interface PodSpec {
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly ephemeralContainers?: readonly Container[];
  readonly nodeName?: string;
}

const ours: readonly Variable[] = [
  { name: 'KUBERNETES_SERVICE_HOST', value: endpoint.host },
  { name: 'KUBERNETES_SERVICE_PORT', value: '8443' },
  { name: 'KUBERNETES_SERVICE_PORT_HTTPS', value: '8443' },
];
const podName: Variable = { name: 'POD', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } };

/** What a container may say about its environment, and what becomes of it. */
const environments: { what: string; given?: Variable[]; becomes: readonly Variable[] }[] = [
  { what: 'nothing', becomes: ours },
  {
    what: 'variables',
    given: [{ name: 'A', value: 'b' }, podName],
    becomes: [...ours, { name: 'A', value: 'b' }, podName],
  },
  {
    what: 'a variable that refers to ours',
    given: [{ name: 'URL', value: 'https://$(KUBERNETES_SERVICE_HOST)' }],
    becomes: [...ours, { name: 'URL', value: 'https://$(KUBERNETES_SERVICE_HOST)' }],
  },
  {
    what: 'one variable twice',
    given: [
      { name: 'D', value: '1' },
      { name: 'D', value: '2' },
    ],
    becomes: [...ours, { name: 'D', value: '1' }, { name: 'D', value: '2' }],
  },
  {
    what: 'a host of its own',
    given: [{ name: 'KUBERNETES_SERVICE_HOST', value: 'mine' }],
    becomes: [{ name: 'KUBERNETES_SERVICE_HOST', value: 'mine' }],
  },
  {
    what: 'a port of its own',
    given: [{ name: 'KUBERNETES_SERVICE_PORT', value: '1' }],
    becomes: [ours[0]!, ours[2]!, { name: 'KUBERNETES_SERVICE_PORT', value: '1' }],
  },
];

const container = (name: string, env?: readonly Variable[]): Container => ({
  name,
  image: 'image',
  ...(env ? { env } : {}),
});

/** Starts the server of a minor with the policies of a cluster of that minor, in force. */
async function withPolicies(version: string, flags: readonly string[]) {
  const server = await startApiServer(flags);
  const requests = new Requests(server.kubeconfig);
  await answered(200, () => requests.get(kubernetes));
  const applied = await applyAll(requests, objectsOf(version));
  const running = pod({});
  await requests.send(pods, { method: 'POST', content: running });
  const debugged = `${pods}/${running.metadata.name}/ephemeralcontainers?dryRun=All`;
  const content = { spec: { ephemeralContainers: [container('debug')] } };
  const tells = (what: unknown) => JSON.stringify({ what }).includes(endpoint.host);
  await until('the policies to be in force', async () => {
    const debug = await requests.send(debugged, { method: 'PATCH', content });
    return tells(debug.body['spec']) && tells(await created(requests, pod({})));
  });
  return { server, requests, applied };
}

function objectsOf(version: string, spec: object = {}): RenderedObject[] {
  return renderWorkload(clusterOf({ spec: { version, ...spec } }), facts, 'in-cluster-access');
}

async function applyAll(requests: Requests, objects: readonly RenderedObject[]): Promise<number[]> {
  const codes: number[] = [];
  for (const object of objects) {
    const path = objectPath(resourceOf(object), object.metadata);
    codes.push((await requests.send(path, { method: 'PATCH', content: object, applyAs: fieldManager })).code);
  }
  return codes;
}

const pod = (spec: PodSpec, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: uniqueName('pod'), ...metadata },
  spec: { containers: [container('main')], ...spec },
});

/** A pod as the server would store it. */
async function created(requests: Requests, content: object): Promise<PodSpec> {
  const { code, body } = await requests.send(`${pods}?dryRun=All`, { method: 'POST', content });
  expect({ code, message: body['message'] }).toEqual({ code: 201, message: undefined });
  return body['spec'] as PodSpec;
}

const emulated = ['--emulated-version=kube=1.34', '--emulation-forward-compatible=true'];
/** What our API servers of a version are given so that there are policies. */
const switchedOn = (version: string) =>
  apiServerFlags(clusterOf({ spec: { version } }), endpoint)
    .filter(([name]) => name === 'feature-gates' || name === 'runtime-config')
    .map(([name, value]) => `--${name}=${value}`);
const servers = [
  { minor: '1.36', version: 'v1.36.3', flags: switchedOn('v1.36.3') },
  // Emulation switches features off, but serves v1 only; it has to serve what 1.34 did.
  { minor: '1.34, emulated,', version: 'v1.34.4', flags: [...emulated, ...switchedOn('v1.34.4')] },
];

describe.each(servers)('a $minor API server', ({ version, flags }) => {
  let server: ApiServer | undefined;
  let requests: Requests;
  let applied: readonly number[];

  beforeAll(async () => {
    ({ server, requests, applied } = await withPolicies(version, flags));
  });

  afterAll(async () => {
    await requests?.close();
    await server?.stop();
  });

  it('takes the policies as they are rendered', () => {
    expect(applied).toEqual([201, 201, 201, 201, 200]);
  });

  it.each(environments)('tells the endpoint to a container with $what', async ({ given, becomes }) => {
    const spec = await created(
      requests,
      pod({ initContainers: [container('first', given)], containers: [container('other'), container('main', given)] }),
    );
    expect(spec.containers?.[1]?.env).toEqual(becomes);
    expect(spec.containers?.[0]?.env).toEqual(ours);
    expect(spec.initContainers?.[0]?.env).toEqual(becomes);
  });

  it('tells it to init containers that go on as sidecars', async () => {
    const sidecar: Container = { ...container('sidecar'), restartPolicy: 'Always' };
    const spec = await created(requests, pod({ initContainers: [container('first'), sidecar] }));
    expect(spec.initContainers?.map(({ env }) => env)).toEqual([ours, ours]);
  });

  it('leaves the pods alone that only mirror what a kubelet runs', async () => {
    const mirrored = { annotations: { 'kubernetes.io/config.mirror': 'x' } };
    const spec = await created(requests, pod({ nodeName: 'node' }, mirrored));
    expect(spec.containers?.[0]).not.toHaveProperty('env');
  });

  it('tells it to containers that debug a running pod, and does not touch earlier ones', async () => {
    const content = pod({});
    const path = `${pods}/${content.metadata.name}`;
    await requests.send(pods, { method: 'POST', content });
    const debug = async (...ephemeralContainers: object[]) => {
      const patched = await requests.send(`${path}/ephemeralcontainers`, {
        method: 'PATCH',
        content: { spec: { ephemeralContainers } },
      });
      expect({ code: patched.code, message: patched.body['message'] }).toEqual({ code: 200, message: undefined });
      return (patched.body['spec'] as PodSpec).ephemeralContainers ?? [];
    };
    const mine = container('mine', [{ name: 'KUBERNETES_SERVICE_HOST', value: 'mine' }]);
    const first = await debug(container('first'), mine);
    const second = await debug(...first, container('second'));
    expect(second.map(({ name, env }) => [name, env])).toEqual([
      ['first', ours],
      ['mine', mine.env],
      ['second', ours],
    ]);
  });

  it('leads its Service kubernetes to proxies where they are asked for, and back', async () => {
    const service = async () => (await requests.get(kubernetes)).body as { spec: object; metadata: object };
    const before = (await service()).spec;

    const proxied = objectsOf(version, { inClusterAccess: 'Proxy' });
    expect(await applyAll(requests, proxied)).toEqual([201, 201, 200]);
    expect((await service()).spec).toEqual({
      ...before,
      selector: { 'app.kubernetes.io/name': 'hosted-control-plane-proxy' },
      internalTrafficPolicy: 'Local',
      publishNotReadyAddresses: true,
    });

    await applyAll(requests, objectsOf(version));
    expect((await service()).spec).toEqual(before);
    expect((await service()).metadata).toMatchObject({ labels: { component: 'apiserver', provider: 'kubernetes' } });
  });
});
