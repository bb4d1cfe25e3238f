import type { SecretObject } from '../../../imports/kubernetes.ts';
import { X509Certificate } from 'node:crypto';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { Secret } from '../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import { caCertificates } from '../../../reconciler/phases/ca-certificates.ts';
import { kubeconfig } from '../../../reconciler/phases/kubeconfig.ts';
import { clientOf, writeKubeconfig } from '../../../reconciler/pki/kubeconfig.ts';
import { pairOf, valueOf } from '../../../reconciler/pki/secret.ts';
import { MemoryObjects, type StoredObject } from '../../support/memory-objects.ts';
import { hostedControlPlaneUid, type ScopeChanges, scopeOf } from '../../support/scope.ts';

const endpoint = { host: '192.0.2.10', port: 6443 };
const name = 'c1-kubeconfig';

async function runIn(management: MemoryObjects, changes: ScopeChanges = {}) {
  const before = management.writes.length;
  const outcome = await kubeconfig.run(scopeOf(management, { facts: { endpoint }, ...changes }));
  if (outcome.kind !== 'done') throw new Error(outcome.message);
  return { written: management.writes.slice(before), requeueAt: outcome.requeueAt };
}

async function withCAs(): Promise<MemoryObjects> {
  const management = new MemoryObjects();
  await caCertificates.run(scopeOf(management));
  return management;
}

const textIn = (management: MemoryObjects) => valueOf(management.get<SecretObject>(Secret, name), 'value');
const clientIn = (management: MemoryObjects) => new X509Certificate(clientOf(textIn(management))?.certificate ?? '');

it('is a Secret as Cluster API expects it, with the content of its own provider', async () => {
  const management = await withCAs();
  expect((await runIn(management)).written).toEqual([`create Secret ${name}`]);
  expect(management.get(Secret, name)).toMatchObject({
    type: 'cluster.x-k8s.io/secret',
    metadata: {
      labels: selectorLabels('c1', 'certificates'),
      ownerReferences: [{ uid: hostedControlPlaneUid, controller: true }],
    },
  });
  const ca = pairOf(management.get<SecretObject>(Secret, 'c1-ca'))?.certificate ?? '';
  const inline = expect.stringMatching(/^[A-Za-z0-9+/=]+$/) as string;
  expect(parse(textIn(management) ?? '')).toEqual({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'c1',
        cluster: {
          server: 'https://192.0.2.10:6443',
          'certificate-authority-data': Buffer.from(ca).toString('base64'),
        },
      },
    ],
    users: [{ name: 'c1-admin', user: { 'client-certificate-data': inline, 'client-key-data': inline } }],
    contexts: [{ name: 'c1-admin@c1', context: { cluster: 'c1', user: 'c1-admin' } }],
    'current-context': 'c1-admin@c1',
  });
  expect(clientIn(management).subject).toBe('O=system:masters\nCN=kubernetes-admin');
  expect(clientIn(management).checkIssued(new X509Certificate(ca))).toBe(true);
});

it('waits until its renewal, which changes nothing but the client certificate', async () => {
  const management = await withCAs();
  await runIn(management);
  // Created first, so that a user's is never overwritten; the first apply then takes over the fields.
  const { requeueAt } = await runIn(management);
  const before = clientIn(management);
  expect((await runIn(management, { now: new Date(requeueAt!.getTime() - 1) })).written).toEqual([]);
  const renewed = await runIn(management, { now: requeueAt! });
  expect(renewed.written).toEqual([`apply Secret ${name}`]);
  expect(renewed.requeueAt!.getTime()).toBeGreaterThan(requeueAt!.getTime());
  expect(clientIn(management).publicKey.equals(before.publicKey)).toBe(false);
  expect(clientIn(management).subject).toBe(before.subject);
});

it.each<[string, (management: MemoryObjects) => Promise<ScopeChanges>]>([
  ['another endpoint', async () => ({ facts: { endpoint: { ...endpoint, host: 'api.example.test' } } })],
  [
    'another CA',
    async (management) => {
      management.remove(management.get(Secret, 'c1-ca')!);
      await caCertificates.run(scopeOf(management));
      return {};
    },
  ],
  [
    'content that cannot be parsed',
    async (management) => {
      management.put({
        ...management.get<StoredObject>(Secret, name)!,
        data: { value: Buffer.from('{').toString('base64') },
      });
      return {};
    },
  ],
])('is written again because of %s', async (_, change) => {
  const management = await withCAs();
  await runIn(management);
  const changes = await change(management);
  expect((await runIn(management, changes)).written).toEqual([`apply Secret ${name}`]);
  expect((await runIn(management, changes)).written).toEqual([]);
});

it.each<[string, object]>([
  ['labelled', { labels: selectorLabels('c1', 'certificates') }],
  [
    'owned by another object',
    {
      labels: selectorLabels('c1', 'certificates'),
      ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'other', controller: true }],
    },
  ],
])('of a user is not changed: %s', async (_, metadata) => {
  const management = await withCAs();
  const theirs = management.put({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, ...metadata },
    data: { value: 'dGhlaXJz' },
  });
  expect((await runIn(management)).written).toEqual([]);
  expect(await management.read(Secret, name)).toEqual(theirs);
});

it.each([{}, { 'cluster.x-k8s.io/cluster-name': 'c1' }])(
  'of a user with the labels %j is labelled, so that its deletion is seen, and not changed otherwise',
  async (labels) => {
    const management = await withCAs();
    management.put({ apiVersion: 'v1', kind: 'Secret', metadata: { name, labels }, data: { value: 'dGhlaXJz' } });
    expect((await runIn(management)).written).toEqual([`adopt Secret ${name}`]);
    expect(management.get(Secret, name)).toMatchObject({ data: { value: 'dGhlaXJz' } });
    expect((await runIn(management)).written).toEqual([]);
  },
);

it('writes an IPv6 endpoint as a URL does', () => {
  const text = writeKubeconfig({
    cluster: 'c1',
    endpoint: { host: '2001:db8::1', port: 443 },
    ca: '',
    client: { certificate: '', key: '' },
  });
  expect(text).toContain('server: https://[2001:db8::1]:443');
});
