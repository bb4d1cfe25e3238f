import { createPublicKey, verify, X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reloads } from '../../constructs/control-plane/certificates/restarts.ts';
import { podsOf, uses } from '../../constructs/control-plane/certificates/uses.ts';
import { isSignedBy } from '../../reconciler/pki/certificate.ts';
import { issueCertificate, type KeyPair, validFor } from '../../reconciler/pki/issue.ts';
import { bundle } from '../../reconciler/pki/pem.ts';
import { kubeletRequest } from '../support/kubelet-request.ts';
import { clusterOf } from '../support/rendered-cluster.ts';
import { hostedRights } from '../support/hosted-api-server.ts';
import { until } from '../support/until.ts';
import { ControlPlaneProcesses, type ProcessName } from '../cluster/certificates/control-plane-processes.ts';
import { type Answer, ask, type Question, shownCertificate } from '../cluster/certificates/dial.ts';
import { type Generation, newGeneration, pairIn, secretNames } from '../cluster/certificates/generation.ts';
import { RecordingServer } from '../cluster/certificates/recording-server.ts';

/** Clients of Kubernetes reload their files every five minutes. */
const slowestReloadMs = 12 * 60_000;
const startMs = 120_000;

let control: ControlPlaneProcesses;
let old: Generation;
let next: Generation;
let kubelet: RecordingServer;
let aggregated: RecordingServer;
let oldToken: string;
let oldAdministrator: KeyPair;
let administrator: KeyPair;

const masters = ['system:masters'];
const inOrder: readonly ProcessName[] = [
  'etcd',
  'spare etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'konnectivity-server',
  'tunnel',
];

/**
 * Everything starts with the old generation; then every file is replaced, and later the test checks which programs reloaded it.
 */
beforeAll(async () => {
  [old, next, control] = await Promise.all([newGeneration(), newGeneration(), ControlPlaneProcesses.prepare()]);
  [oldAdministrator, administrator] = await Promise.all([
    old.issue('cluster', 'administrator', masters),
    next.issue('cluster', 'administrator', masters),
  ]);
  kubelet = await RecordingServer.start(await servingPair(old.cluster));
  aggregated = await RecordingServer.start(await servingPair(old.cluster));
  for (const name of inOrder) {
    await control.write(name, name === 'etcd' ? trustingBoth() : old.secrets);
    if (name === 'kube-controller-manager') await untilReady(oldAdministrator);
    control.start(name);
  }
  await makeObjects(oldAdministrator);
  oldToken = await issuedToken(oldAdministrator);
  await untilControllersWork('before', oldAdministrator);
  await untilScheduled('before', oldAdministrator);
  await until(
    'the lease of konnectivity',
    async () => (await newestLease(oldAdministrator).catch(() => 0)) > 0,
    startMs,
  );
  await until('the aggregated API', async () => (await askAggregated(oldAdministrator)).status === 200, startMs);

  for (const name of inOrder) if (name !== 'etcd') await control.write(name, next.secrets);
  await until('the next administrator', () => isLetIn(administrator), slowestReloadMs);
  await untilControllersWork('after', administrator, slowestReloadMs);
  await untilScheduled('after', administrator, slowestReloadMs);
  const began = Date.now();
  await until(
    'konnectivity to renew its lease',
    async () => (await newestLease(administrator).catch(() => 0)) > began,
    slowestReloadMs,
  );
  await until('the tunnel to be there', () => shownCertificate(control.ports.tunnel), startMs);
}, 3 * slowestReloadMs);
afterAll(async () => {
  await control?.stop();
  await kubelet?.stop();
  await aggregated?.stop();
});

/** Whether a program has reloaded the next generation for a use without a restart, by purpose. */
const observations: Readonly<Record<string, () => boolean | Promise<boolean>>> = {
  'clusterCA: kube-apiserver verifies clients': async () =>
    (await isLetIn(administrator)) && !(await isLetIn(oldAdministrator)),
  'clusterCA: kube-apiserver verifies kubelets': async () => {
    // The kubelet serves as before: commands still work until someone reads a log.
    const before = await reachKubelet('exec');
    const log = await reachKubelet('log');
    const after = await reachKubelet('exec');
    expect([log.status, log.text]).toEqual([500, expect.stringContaining('certificate')]);
    expect(after.status).toBe(500);
    return before.status === 500;
  },
  'clusterCA: konnectivity-server verifies the API server': () => renewsLease(),
  'clusterCA: kube-controller-manager becomes kube-root-ca.crt': async () => {
    const published = await until('kube-root-ca.crt', async () => {
      const { data } = await read<{ data?: Record<string, string> }>(
        `${core}/namespaces/after/configmaps/kube-root-ca.crt`,
      );
      return data?.['ca.crt'];
    });
    return published === next.cluster.certificate;
  },
  'clusterCA: kube-controller-manager signs certificates of kubelets': async () =>
    isSignedBy(await signedByControllerManager(), next.cluster.certificate),
  'clusterCA: kube-controller-manager verifies the API server': () => controls('verified'),
  'clusterCA: kube-scheduler verifies the API server': () => schedules('verified'),
  'etcdCA: etcd verifies clients and peers': async () => {
    const version = (client: KeyPair) => ask({ port: control.ports.spareEtcd, path: '/version', client });
    const [before, after] = [
      await version(pairIn(old, secretNames.etcdController)),
      await version(pairIn(next, secretNames.etcdController)),
    ];
    expect(new Set([before.status, after.status])).toEqual(new Set([0, 200]));
    return after.status === 200;
  },
  'etcdCA: kube-apiserver verifies etcd': async () => {
    await restartEtcd(trustingNext());
    return !(await isLetInWithin(administrator, 90_000));
  },
  'frontProxyCA: kube-apiserver verifies front proxies': async () => {
    const [before, after] = [await speakForJane(old), await speakForJane(next)];
    expect(before).not.toBe(after);
    return after === 'jane';
  },
  'frontProxyCA: kube-controller-manager verifies front proxies': async () => {
    const metrics = (generation: Generation) =>
      ask({
        port: control.ports.controllerManager,
        path: '/metrics',
        headers: { 'x-remote-user': 'jane', 'x-remote-group': 'system:masters' },
        client: pairIn(generation, secretNames.frontProxyClient),
      });
    const [before, after] = [await metrics(old), await metrics(next)];
    expect(before.status).not.toBe(after.status);
    return after.status === 200;
  },
  'serviceAccount: kube-apiserver verifies tokens': async () => !(await isTokenAccepted(oldToken)),
  'serviceAccount: kube-apiserver signs tokens': async () => isOfNext(await issuedToken(administrator)),
  'serviceAccount: kube-controller-manager signs tokens kept in Secrets': async () => isOfNext(await keptToken()),
  'apiServer: kube-apiserver serves': () => shows(control.ports.api, secretNames.apiServer),
  'apiServerKubeletClient: kube-apiserver reaches kubelets': () =>
    kubelet.client === x509Of(pairIn(next, secretNames.apiServerKubeletClient)),
  // Its etcd has been restarted by now, and accepts only clients of the next generation.
  'apiServerEtcdClient: kube-apiserver reaches etcd': () => isLetIn(administrator),
  'frontProxyClient: kube-apiserver impersonates users towards aggregated API servers': async () => {
    aggregated.closeConnections();
    await until('the aggregated API', async () => (await askAggregated(administrator)).status === 200, startMs);
    return aggregated.client === x509Of(pairIn(next, secretNames.frontProxyClient));
  },
  'etcdServer: etcd serves clients': () =>
    shows(control.ports.spareEtcd, secretNames.etcdServer, secretNames.etcdController),
  'etcdPeer: etcd serves and reaches peers': () =>
    shows(control.ports.sparePeer, secretNames.etcdPeer, secretNames.etcdPeer),
  'konnectivityServer: konnectivity-server serves agents': () =>
    shows(control.ports.agents, secretNames.konnectivityServer),
  "konnectivityClient: konnectivity-server reviews agents' tokens": () => renewsLease(),
  'tunnel: tunnel serves proxies of workers': () => shows(control.ports.tunnel, secretNames.tunnel),
  'controllerManager: kube-controller-manager reaches the API server': () => controls('reached'),
  'scheduler: kube-scheduler reaches the API server': () => schedules('reached'),
};

/** Programs in pods; the operator creates its own clients again at every change, and Cluster API reads Secrets. */
const rows = Object.entries(uses).flatMap(([role, list]) =>
  list
    .filter(({ program }) => podsOf[program] !== undefined)
    .map((use) => ({ use, name: `${role}: ${use.program} ${use.purpose}` })),
);

describe('a file that changes while its program runs', () => {
  test.each(rows)('$name: is reloaded as the table says', { timeout: 2 * startMs }, async ({ use, name }) => {
    const observe = observations[name];
    if (!observe) throw new Error(`nothing shows whether it is taken up: ${name}`);
    expect(await observe()).toBe(reloads(use, clusterOf()));
  });

  test.each(inOrder)('ends no program: %s', (name) => {
    expect(control.isRunning(name)).toBe(true);
  });
});

const core = '/api/v1';

function api(question: Omit<Question, 'port'>): Promise<Answer> {
  return ask({ client: administrator, ...question, port: control.ports.api });
}

async function read<T>(path: string, client = administrator): Promise<T> {
  return JSON.parse((await api({ path, client })).text) as T;
}

async function isLetIn(client: KeyPair): Promise<boolean> {
  return (await api({ path: `${core}/namespaces/default`, client })).status === 200;
}

function isLetInWithin(client: KeyPair, limitMs: number): Promise<boolean> {
  return until('to be let in', () => isLetIn(client), limitMs).catch(() => false);
}

async function untilReady(client: KeyPair): Promise<void> {
  await until('the API server', async () => (await api({ path: '/readyz', client })).status === 200, startMs);
}

async function create(path: string, object: object, client = administrator): Promise<void> {
  await until(
    `an answer to the creation of ${path}`,
    async () => {
      const { status, text } = await api({ method: 'POST', path, body: object, client });
      if (status !== 0 && status !== 201 && status !== 409) throw new Error(`create ${path}: ${status} ${text}`);
      return status !== 0;
    },
    startMs,
  );
}

/** The objects that the tests need. */
async function makeObjects(client: KeyPair): Promise<void> {
  for (const object of hostedRights) {
    const { kind, apiVersion, metadata } = object;
    const plural = `${kind.toLowerCase()}s`;
    const namespace = metadata.namespace ? `/namespaces/${metadata.namespace}` : '';
    if (metadata.namespace) await create(`${core}/namespaces`, named(metadata.namespace), client);
    await create(`/apis/${apiVersion}${namespace}/${plural}`, object, client);
  }
  const node = {
    ...named('n1'),
    status: {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: kubelet.port } },
      allocatable: { pods: '10', cpu: '4', memory: '8Gi' },
      capacity: { pods: '10', cpu: '4', memory: '8Gi' },
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  };
  await create(`${core}/nodes`, node, client);
  await create(
    `${core}/namespaces/default/pods`,
    { ...podNamed('placed'), spec: { ...podSpec, nodeName: 'n1', tolerations: [{ operator: 'Exists' }] } },
    client,
  );
  const service = { type: 'ExternalName', externalName: 'localhost', ports: [{ port: aggregated.port }] };
  await create(`${core}/namespaces/default/services`, { ...named('weather'), spec: service }, client);
  const apiService = {
    group: 'weather.example.org',
    version: 'v1',
    groupPriorityMinimum: 100,
    versionPriority: 100,
    insecureSkipTLSVerify: true,
    service: { namespace: 'default', name: 'weather', port: aggregated.port },
  };
  await create(
    '/apis/apiregistration.k8s.io/v1/apiservices',
    { ...named('v1.weather.example.org'), spec: apiService },
    client,
  );
}

const podSpec = { containers: [{ name: 'c', image: 'none' }] };
const named = (name: string) => ({ metadata: { name } });
const podNamed = (name: string) => ({ ...named(name), spec: podSpec });

/** The controller manager creates a service account in every new namespace. */
async function untilControllersWork(namespace: string, client: KeyPair, limitMs = startMs): Promise<void> {
  await create(`${core}/namespaces`, named(namespace), client);
  const path = `${core}/namespaces/${namespace}/serviceaccounts/default`;
  await until('controllers to work', async () => (await api({ path, client })).status === 200, limitMs);
}

/** The scheduler binds every pod, or reports why it cannot. */
async function untilScheduled(name: string, client: KeyPair, limitMs = startMs): Promise<void> {
  await create(`${core}/namespaces/default/pods`, podNamed(name), client);
  await until(
    'the scheduler',
    async () => {
      const path = `${core}/namespaces/default/pods/${name}`;
      const found = await read<{ status?: { conditions?: { type: string }[] } }>(path, client).catch(() => undefined);
      return found?.status?.conditions?.some(({ type }) => type === 'PodScheduled');
    },
    limitMs,
  );
}

/**
 * Whether a program works with the API server after the change: it serves the next pair and accepts clients of the next CA
 * only, and earlier connections have ended with the pair of the client.
 */
const works = (done: Promise<void>) =>
  done.then(
    () => true,
    () => false,
  );
const controls = (name: string) => works(untilControllersWork(name, administrator));
const schedules = (name: string) => works(untilScheduled(name, administrator));

/** Whether the konnectivity server continues to renew its lease, as it does every few seconds. */
async function renewsLease(): Promise<boolean> {
  const began = await newestLease(administrator);
  return works(
    until('a renewed lease', async () => (await newestLease(administrator)) > began, startMs).then(() => {}),
  );
}

/** When konnectivity servers last renewed a lease, in milliseconds since the epoch; 0 for never. */
async function newestLease(client: KeyPair): Promise<number> {
  const path = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases?labelSelector=k8s-app%3Dkonnectivity-server';
  const { items = [] } = await read<{ items?: { spec: { renewTime: string } }[] }>(path, client);
  return Math.max(0, ...items.map(({ spec }) => Date.parse(spec.renewTime)));
}

function askAggregated(client: KeyPair): Promise<Answer> {
  return api({ path: '/apis/weather.example.org/v1/anything', client });
}

async function reachKubelet(how: 'exec' | 'log'): Promise<Answer> {
  kubelet.closeConnections();
  const pod = `${core}/namespaces/default/pods/placed`;
  if (how === 'log') return api({ path: `${pod}/log` });
  const headers = { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io' };
  return api({ method: 'POST', path: `${pod}/exec?command=true&stdout=true`, headers });
}

async function speakForJane(generation: Generation): Promise<string | undefined> {
  const { text } = await api({
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
    headers: { 'x-remote-user': 'jane', 'x-remote-group': 'system:authenticated' },
    client: pairIn(generation, secretNames.frontProxyClient),
  });
  return (JSON.parse(text) as { status?: { userInfo?: { username?: string } } }).status?.userInfo?.username;
}

async function issuedToken(client: KeyPair): Promise<string> {
  await create(`${core}/namespaces/default/serviceaccounts`, named('bearer'), client);
  const path = `${core}/namespaces/default/serviceaccounts/bearer/token`;
  const { text } = await api({ method: 'POST', path, body: { spec: {} }, client });
  return (JSON.parse(text) as { status: { token: string } }).status.token;
}

async function isTokenAccepted(token: string): Promise<boolean> {
  const path = '/apis/authentication.k8s.io/v1/tokenreviews';
  const { text } = await api({ method: 'POST', path, body: { spec: { token } } });
  return (JSON.parse(text) as { status?: { authenticated?: boolean } }).status?.authenticated === true;
}

async function keptToken(): Promise<string> {
  const annotations = { 'kubernetes.io/service-account.name': 'bearer' };
  const secret = { metadata: { name: 'kept', annotations }, type: 'kubernetes.io/service-account-token' };
  await create(`${core}/namespaces/default/secrets`, secret);
  const token = await until('a token', async () => {
    const { data } = await read<{ data?: { token?: string } }>(`${core}/namespaces/default/secrets/kept`);
    return data?.token;
  });
  return Buffer.from(token, 'base64').toString();
}

/** Whether a token is signed with the next key. @throws when neither key has signed it */
function isOfNext(token: string): boolean {
  const [header = '', payload = '', signature = ''] = token.split('.');
  const isOf = ({ serviceAccount }: Generation) =>
    verify(
      'sha256',
      Buffer.from(`${header}.${payload}`),
      { key: createPublicKey(serviceAccount.certificate), dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature, 'base64url'),
    );
  expect([isOf(old), isOf(next)]).toContain(true);
  return isOf(next);
}

async function signedByControllerManager(): Promise<string> {
  const { apiVersion, kind, spec } = await kubeletRequest();
  const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
  const { request, usages } = spec;
  const client = {
    request,
    usages: ['digital signature', 'client auth'],
    signerName: 'kubernetes.io/kube-apiserver-client',
  };
  await create(path, {
    apiVersion,
    kind,
    metadata: { name: 'any' },
    spec: { ...client, usages: usages && client.usages },
  });
  const conditions = [{ type: 'Approved', status: 'True', reason: 'Test', message: 'test' }];
  const approved = { ...(await read<object>(`${path}/any`)), status: { conditions } };
  await api({ method: 'PUT', path: `${path}/any/approval`, body: approved });
  const certificate = await until('a signed certificate', async () => {
    const { status } = await read<{ status?: { certificate?: string } }>(`${path}/any`);
    return status?.certificate;
  });
  return Buffer.from(certificate, 'base64').toString();
}

/** Whether a server presents the certificate of this Secret in the next generation, and not that in the old one. */
async function shows(port: number, secret: string, clientSecret?: string): Promise<boolean> {
  const client = clientSecret === undefined ? undefined : pairIn(old, clientSecret);
  const shown = await shownCertificate(port, client);
  const known = [old, next].map((generation) => x509Of(pairIn(generation, secret)));
  expect(known).toContain(shown);
  return shown === known[1];
}

function x509Of({ certificate }: KeyPair): string {
  return new X509Certificate(certificate).toString();
}

/** The files of the API server's own etcd: it serves with the old generation, and first accepts clients of both. */
function trustingBoth(): ReadonlyMap<string, Readonly<Record<string, string>>> {
  const both = bundle(old.etcd.certificate, next.etcd.certificate);
  return new Map([...old.secrets, [secretNames.etcdCA, { 'tls.crt': both }]]);
}

function trustingNext(): ReadonlyMap<string, Readonly<Record<string, string>>> {
  return new Map([...old.secrets, [secretNames.etcdCA, { 'tls.crt': next.etcd.certificate }]]);
}

async function restartEtcd(secrets: ReadonlyMap<string, Readonly<Record<string, string>>>): Promise<void> {
  await control.write('etcd', secrets);
  await control.kill('etcd');
  control.start('etcd');
}

/** The certificate of a server on the loopback address, such as the kubelet of a node there. */
async function servingPair(certificateAuthority: KeyPair): Promise<KeyPair> {
  const plan = { commonName: 'system:node:n1', organizations: ['system:nodes'], hosts: ['127.0.0.1', 'localhost'] };
  return issueCertificate(
    { ...plan, usages: ['server'] },
    certificateAuthority,
    validFor(24 * 60 * 60_000, new Date()),
  );
}
