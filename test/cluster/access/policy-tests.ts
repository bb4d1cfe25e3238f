import { afterAll, beforeAll, expect, it } from 'vitest';
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

const added: readonly Variable[] = [
  { name: 'KUBERNETES_SERVICE_HOST', value: endpoint.host },
  { name: 'KUBERNETES_SERVICE_PORT', value: '8443' },
  { name: 'KUBERNETES_SERVICE_PORT_HTTPS', value: '8443' },
];
const podName: Variable = { name: 'POD', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } };

/** The environment of a container, and the environment that results. */
const environments: { what: string; given?: Variable[]; becomes: readonly Variable[] }[] = [
  { what: 'nothing', becomes: added },
  {
    what: 'variables',
    given: [{ name: 'A', value: 'b' }, podName],
    becomes: [...added, { name: 'A', value: 'b' }, podName],
  },
  {
    what: 'a variable that refers to an added one',
    given: [{ name: 'URL', value: 'https://$(KUBERNETES_SERVICE_HOST)' }],
    becomes: [...added, { name: 'URL', value: 'https://$(KUBERNETES_SERVICE_HOST)' }],
  },
  {
    what: 'one variable twice',
    given: [
      { name: 'D', value: '1' },
      { name: 'D', value: '2' },
    ],
    becomes: [...added, { name: 'D', value: '1' }, { name: 'D', value: '2' }],
  },
  {
    what: 'a host of its own',
    given: [{ name: 'KUBERNETES_SERVICE_HOST', value: 'mine' }],
    becomes: [{ name: 'KUBERNETES_SERVICE_HOST', value: 'mine' }],
  },
  {
    what: 'a port of its own',
    given: [{ name: 'KUBERNETES_SERVICE_PORT', value: '1' }],
    becomes: [added[0]!, added[2]!, { name: 'KUBERNETES_SERVICE_PORT', value: '1' }],
  },
];

const container = (name: string, env?: readonly Variable[]): Container => ({
  name,
  image: 'image',
  ...(env ? { env } : {}),
});

/** Starts an API server of a minor with the policies for a cluster of that minor. */
async function withPolicies(version: string, flags: readonly string[], binaries?: string) {
  const server = await startApiServer(flags, binaries);
  const requests = new Requests(server.kubeconfig);
  await answered(200, () => requests.get(kubernetes));
  const applied = await applyAll(requests, objectsOf(version));
  const running = pod({});
  await requests.send(pods, { method: 'POST', content: running });
  const debugged = `${pods}/${running.metadata.name}/ephemeralcontainers?dryRun=All`;
  const content = { spec: { ephemeralContainers: [container('debug')] } };
  const hasEndpoint = (what: unknown) => JSON.stringify({ what }).includes(endpoint.host);
  await until('the policies to be in force', async () => {
    const debug = await requests.send(debugged, { method: 'PATCH', content });
    // the other containers may have it from when the pod was created
    const { ephemeralContainers } = (debug.body['spec'] ?? {}) as PodSpec;
    return hasEndpoint(ephemeralContainers) && hasEndpoint(await created(requests, pod({})));
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

/** Flags of the rendered API server of a version that enable policies, and those with which other binaries emulate it. */
const switchedOn = (version: string, binaries?: string) =>
  apiServerFlags({ ...clusterOf({ spec: { version } }), binaries }, endpoint)
    .filter(([name]) => name === 'feature-gates' || name === 'runtime-config' || name.startsWith('emulat'))
    .map(([name, value]) => `--${name}=${value}`);

/** An API server whose version has the policies. */
export interface TestedServer {
  readonly minor: string;
  readonly version: string;
  /** The minor of its binaries; the newest one by default. */
  readonly binaries?: string;
  /** The version of the binaries that emulate this one. By default none do. */
  readonly emulatedBy?: string;
}

/** The tests of one API server. */
export function testPolicies({ version, binaries, emulatedBy }: TestedServer): void {
  let server: ApiServer | undefined;
  let requests: Requests;
  let applied: readonly number[];

  beforeAll(async () => {
    ({ server, requests, applied } = await withPolicies(version, switchedOn(version, emulatedBy), binaries));
  });

  afterAll(async () => {
    await requests?.close();
    await server?.stop();
  });

  it('accepts the policies as rendered', () => {
    expect(applied).toEqual([201, 201, 201, 201, 200]);
  });

  it.each(environments)('adds the endpoint to a container with $what', async ({ given, becomes }) => {
    const spec = await created(
      requests,
      pod({ initContainers: [container('first', given)], containers: [container('other'), container('main', given)] }),
    );
    expect(spec.containers?.[1]?.env).toEqual(becomes);
    expect(spec.containers?.[0]?.env).toEqual(added);
    expect(spec.initContainers?.[0]?.env).toEqual(becomes);
  });

  it('adds it to init containers that run as sidecars', async () => {
    const sidecar: Container = { ...container('sidecar'), restartPolicy: 'Always' };
    const spec = await created(requests, pod({ initContainers: [container('first'), sidecar] }));
    expect(spec.initContainers?.map(({ env }) => env)).toEqual([added, added]);
  });

  it('does not change mirror pods', async () => {
    const mirrored = { annotations: { 'kubernetes.io/config.mirror': 'x' } };
    const spec = await created(requests, pod({ nodeName: 'node' }, mirrored));
    expect(spec.containers?.[0]).not.toHaveProperty('env');
  });

  it('adds it to ephemeral containers, and does not change earlier ones', async () => {
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
      ['first', added],
      ['mine', mine.env],
      ['second', added],
    ]);
  });

  it('points its kubernetes Service to proxies if they are requested, and back', async () => {
    const service = async () => (await requests.get(kubernetes)).body as { spec: object; metadata: object };
    const before = (await service()).spec;
    expect(before).toMatchObject({
      selector: { 'app.kubernetes.io/name': 'hosted-control-plane-service-proxy' },
      internalTrafficPolicy: 'Cluster',
    });

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
}
