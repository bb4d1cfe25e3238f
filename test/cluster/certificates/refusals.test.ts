import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCA, type KeyPair, validFor } from '../../../reconciler/pki/issue.ts';
import { recordFault } from '../../support/fault-table.ts';
import { until } from '../../support/until.ts';
import { ControlPlaneProcesses, type ProcessName } from './control-plane-processes.ts';
import { type Answer, ask, isGreeted } from './dial.ts';
import { RecordingServer } from './recording-server.ts';
import { type Generation, newGeneration, pairIn, secretNames } from './generation.ts';

const dayMs = 24 * 60 * 60_000;
const programs: readonly ProcessName[] = ['etcd', 'kube-apiserver'];

const everyClient = [
  'a kubelet',
  'an administrator',
  'the API server towards kubelets',
  "the provider's client",
  'the front proxy',
  'another client of the front proxy',
  'the API server towards etcd',
  'this provider towards etcd',
  'another client of etcd',
  'a member of etcd that serves',
  'a member of etcd towards another',
  'etcd of another cluster',
  'an API server that serves',
] as const;
type Client = (typeof everyClient)[number];

let control: ControlPlaneProcesses;
let generation: Generation;
let clients: Readonly<Record<Client, KeyPair>>;

beforeAll(async () => {
  [generation, control] = await Promise.all([newGeneration(), ControlPlaneProcesses.prepare()]);
  for (const name of programs) {
    await control.write(name, generation.secrets);
    control.start(name);
  }
  const of = (secret: string) => pairIn(generation, secret);
  const unrelated = await newGeneration();
  clients = {
    'a kubelet': await generation.issue('cluster', 'system:node:n1', ['system:nodes']),
    'an administrator': await generation.issue('cluster', 'kubernetes-admin', ['system:masters']),
    'the API server towards kubelets': of(secretNames.apiServerKubeletClient),
    "the provider's client": of(secretNames.controller),
    'the front proxy': of(secretNames.frontProxyClient),
    'another client of the front proxy': await generation.issue('proxy', 'somebody'),
    'the API server towards etcd': of(secretNames.apiServerEtcdClient),
    'this provider towards etcd': of(secretNames.etcdController),
    'another client of etcd': await generation.issue('etcd', 'somebody'),
    'a member of etcd that serves': of(secretNames.etcdServer),
    // Without the names of pods, which etcd would resolve and compare with the client's address.
    'a member of etcd towards another': await generation.issue('etcd', 'etcd-peer'),
    'etcd of another cluster': pairIn(unrelated, secretNames.etcdController),
    'an API server that serves': of(secretNames.apiServer),
  };
  const ready = () => ask({ port: control.ports.api, path: '/readyz', client: clients['an administrator'] });
  await until('the API server', async () => (await ready()).status === 200, 120_000);
});
afterAll(() => control?.stop());

/** Sends a SelfSubjectReview to the API server as jane, through headers of a front proxy. */
function asking(who: Client): Promise<Answer> {
  return ask({
    port: control.ports.api,
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
    headers: { 'x-remote-user': 'jane', 'x-remote-group': 'system:masters' },
    client: clients[who],
  });
}

describe('etcd', () => {
  const admitted = async (isAdmitted: (client: KeyPair) => Promise<boolean>) => {
    const answers = await Promise.all(everyClient.map(async (who) => [who, await isAdmitted(clients[who])] as const));
    return answers.filter(([, isIn]) => isIn).map(([who]) => who);
  };
  const answersAt = (port: number) => async (client: KeyPair) =>
    (await ask({ port, path: '/version', client })).status !== 0;

  test('accepts its two clients and no other certificate, whatever its signer', async () => {
    const own = ['the API server towards etcd', 'this provider towards etcd'];
    expect(await admitted((client) => isGreeted(control.ports.etcd, client))).toEqual(own);
    expect(await admitted(answersAt(control.ports.etcdHTTP))).toEqual(own);
    await recordFault({
      fault: "certificates of kubelets, administrators, the front proxy and etcd's own members tried on etcd",
      observed: 'etcd refuses the TLS handshake; it accepts only the API server and this provider',
      recoverySeconds: undefined,
      dataLost: 'none',
    });
  });

  test('accepts members on the peer port, and no other certificate', async () => {
    expect(await admitted(answersAt(control.ports.peer))).toEqual(['a member of etcd towards another']);
  });

  test('accepts no client without a certificate', async () => {
    expect(await isGreeted(control.ports.etcd)).toBe(false);
    for (const port of [control.ports.etcdHTTP, control.ports.peer]) {
      expect((await ask({ port, path: '/version' })).status).toBe(0);
    }
  });
});

describe('the API server, for clients that impersonate by headers', () => {
  const userOf = ({ text }: Answer) =>
    (JSON.parse(text) as { status?: { userInfo?: { username?: string } } }).status?.userInfo?.username;

  test('accepts the headers of the front proxy only', async () => {
    expect(userOf(await asking('the front proxy'))).toBe('jane');
  });

  test.each<[Client, string]>([
    ['a kubelet', 'system:node:n1'],
    ['an administrator', 'kubernetes-admin'],
    ['the API server towards kubelets', 'kube-apiserver-kubelet-client'],
    ["the provider's client", 'hosted-control-plane-controller'],
  ])('treats %s as the user in its certificate', async (who, user) => {
    expect(userOf(await asking(who))).toBe(user);
  });

  test.each<Client>([
    'another client of the front proxy',
    'the API server towards etcd',
    'this provider towards etcd',
    'a member of etcd that serves',
    'a member of etcd towards another',
    'etcd of another cluster',
    'an API server that serves',
  ])('refuses %s', async (who) => {
    expect((await asking(who)).status).toBe(401);
  });

  test('was tested with every certificate of the cluster', async () => {
    expect(Object.keys(clients)).toEqual([...everyClient]);
    await recordFault({
      fault: 'X-Remote-User sent with the certificate of a kubelet, of another client of the cluster, and of etcd',
      observed:
        'the API server takes a client that it knows for what its certificate says, and refuses every other one',
      recoverySeconds: undefined,
      dataLost: 'none',
    });
  });
});

describe('a kubelet with a self-issued serving certificate', () => {
  const path = '/api/v1/namespaces/default/pods/p/log';
  let kubelet: RecordingServer;

  beforeAll(async () => {
    const unrelated = await createCA({ commonName: 'n1@1234567890' }, validFor(dayMs, new Date()));
    kubelet = await RecordingServer.start(unrelated);
    const addresses = [{ type: 'InternalIP', address: '127.0.0.1' }];
    const status = { addresses, daemonEndpoints: { kubeletEndpoint: { Port: kubelet.port } } };
    await create('/api/v1/nodes', { metadata: { name: 'n1' }, status });
    const spec = { nodeName: 'n1', containers: [{ name: 'c', image: 'none' }] };
    await create('/api/v1/namespaces/default/pods', { metadata: { name: 'p' }, spec });
  });
  afterAll(() => kubelet.stop());

  async function create(collection: string, object: object): Promise<void> {
    const client = clients['an administrator'];
    const answer = await ask({ port: control.ports.api, method: 'POST', path: collection, body: object, client });
    expect([answer.status, answer.text]).toEqual([201, expect.anything()]);
  }

  test('gets no request for logs, and the message says why', async () => {
    const { status, text } = await ask({ port: control.ports.api, path, client: clients['an administrator'] });
    expect(status).toBe(500);
    expect(text).toContain('certificate');
    expect(kubelet.requests).toBe(0);
  });

  test('gets requests if the user removes the flag', async () => {
    await control.kill('kube-apiserver');
    control.start('kube-apiserver', { 'kubelet-certificate-authority': '' });
    const asking = () => ask({ port: control.ports.api, path, client: clients['an administrator'] });
    await until('logs', async () => (await asking()).status === 200, 120_000);
    expect(kubelet.requests).toBeGreaterThan(0);
  });
});
