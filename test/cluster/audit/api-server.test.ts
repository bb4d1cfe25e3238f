import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FanOutConfig } from '../../../constructs/control-plane/api-server/audit/fan-out-config.ts';
import { FanOut } from '../../../reconciler/programs/audit-fan-out/fan-out.ts';
import { ConfigMap } from '../../../constructs/api/resources.ts';
import { fanOutKubeconfig } from '../../../constructs/control-plane/api-server/audit/webhook.ts';
import { ApiServer } from '../../support/api-server.ts';
import { AuditReceiver, createReceiverCA } from '../../support/audit-receiver.ts';
import { Rendered } from '../../support/rendered-cluster.ts';
import { until } from '../../support/until.ts';

const directory = await mkdtemp(join(tmpdir(), 'audited-'));
let receivers: AuditReceiver[];
const servers: ApiServer[] = [];
let fanOut: FanOut | undefined;

beforeAll(async () => {
  const ca = await createReceiverCA();
  receivers = await Promise.all([AuditReceiver.start(ca), AuditReceiver.start(ca)]);
});

afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  await fanOut?.end(wait(0));
  await Promise.all(receivers.map((receiver) => receiver.stop()));
  await rm(directory, { recursive: true });
});

const create = { level: 'Request', verbs: ['create'], resources: [{ resources: ['configmaps'] }] };
const policy = { rules: [create, { level: 'None' }] };
const authentication = { secretName: 'any' };

/** What is rendered for some audit settings: the flags of the API server about it, and the files, on this machine. */
async function rendered(audit: object, fanOutPort = 0): Promise<{ flags: string[]; fanOutFile: string }> {
  const all = new Rendered({ spec: { deployment: { apiServer: { audit: { policy, ...audit } } } } });
  const localized = (text: string) =>
    text.replaceAll('/etc/kubernetes/audit', directory).replaceAll('127.0.0.1:8135', `127.0.0.1:${fanOutPort}`);
  const files = all.object('ConfigMap', 'c1-audit')['data'] as Record<string, string>;
  for (const [file, text] of Object.entries(files)) await writeFile(join(directory, file), localized(text));
  await writeFile(join(directory, 'token'), 'token-of-the-pod\n');
  if (fanOutPort > 0) await writeFile(join(directory, 'webhook.yaml'), localized(fanOutKubeconfig('token-of-the-pod')));
  const flags = Object.entries(all.flags('c1-api-server', 'kube-apiserver'));
  const own = flags.filter(([name]) => name.startsWith('audit-'));
  return {
    flags: own.map(([name, value]) => `--${name}=${localized(value)}`),
    fanOutFile: files['fan-out.json'] ?? '{}',
  };
}

async function start(flags: readonly string[]): Promise<ApiServer> {
  const server = new ApiServer(flags);
  servers.push(server);
  await server.start();
  return server;
}

function createConfigMap({ client }: ApiServer, name: string) {
  const { apiVersion, kind } = ConfigMap;
  return client.create({ apiVersion, kind, metadata: { namespace: 'default', name } }, { fieldManager: 'test' });
}

/** Names of ConfigMaps in the records that a receiver has taken for the end of requests. */
const names = ({ records }: AuditReceiver) =>
  records.filter(({ stage }) => stage === 'ResponseComplete').flatMap(({ objectRef }) => objectRef?.name ?? []);

test('an API server sends its records to a receiver with its own CA, with the token, and writes them to its output', async () => {
  const [receiver] = receivers;
  const target = { server: receiver?.url, certificateAuthority: receiver?.ca, authentication };
  const toOutput = await rendered({ mode: 'blocking' });
  const toReceiver = await rendered({ webhook: { targets: [target] } });
  const flags = new Set([...toOutput.flags, ...toReceiver.flags, '--audit-webhook-batch-max-wait=1s']);
  const server = await start([...flags]);
  const created = Array.from({ length: 30 }, (_, index) => `number-${index}`);
  for (const name of created) await createConfigMap(server, name);
  await until('all records', () => names(receiver!).includes('number-29'));
  expect(names(receiver!).filter((name) => created.includes(name))).toEqual(created);
  expect(new Set(receiver?.authorizations)).toEqual(new Set(['Bearer token-of-the-pod']));
  const output = await readFile(join(dirname(server.kubeconfig), 'kube-apiserver.log'), 'utf8');
  const lines = output.split('\n').filter((line) => line.startsWith('{"kind":"Event","apiVersion":"audit.k8s.io/v1"'));
  expect(lines.filter((line) => line.includes('"name":"number-29"')).length).toBeGreaterThan(0);
});

test('in mode blocking-strict an API server answers with 500 when one of two receivers has not taken the record', async () => {
  const [, failing] = receivers;
  const targets = receivers.map(({ url, ca }) => ({ server: url, certificateAuthority: ca }));
  const audit = { mode: 'blocking-strict', webhook: { targets } };
  fanOut = new FanOut({
    config: JSON.parse((await rendered(audit)).fanOutFile) as FanOutConfig,
    readToken: async () => 'token-of-the-pod',
    timeoutMs: 5_000,
    queueBytes: 2 ** 20,
    backOffMs: () => 10,
    log: () => {},
  });
  fanOut.server.listen(0, '127.0.0.1');
  await once(fanOut.server, 'listening');
  const { flags } = await rendered(audit, (fanOut.server.address() as AddressInfo).port);
  const server = await start(flags);
  await createConfigMap(server, 'strict');
  for (const receiver of receivers) await until('the record of the answer', () => names(receiver).includes('strict'));
  failing!.behaviour = 500;
  await expect(createConfigMap(server, 'refused')).rejects.toMatchObject({ code: 500 });
  failing!.behaviour = 200;
  await createConfigMap(server, 'accepted');
  expect(await server.client.find(ConfigMap, { namespace: 'default', name: 'refused' })).toBeUndefined();
  await until('the record of the answer', () => names(failing!).includes('accepted'));
});
