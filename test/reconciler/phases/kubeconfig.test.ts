import { X509Certificate } from 'node:crypto';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { Secret } from '../../../constructs/api/resources.ts';
import { authorities } from '../../../reconciler/phases/cas.ts';
import { kubeconfig } from '../../../reconciler/phases/kubeconfig.ts';
import { clientOf, writeKubeconfig } from '../../../reconciler/pki/kubeconfig.ts';
import { pairOf, type SecretObject, valueOf } from '../../../reconciler/pki/secret.ts';
import { MemoryWorld, type StoredObject } from '../../support/memory-world.ts';
import { hostedControlPlaneUid, type ScopeChanges, scopeOf } from '../../support/scope.ts';

const endpoint = { host: '192.0.2.10', port: 6443 };
const name = 'c1-kubeconfig';

async function runIn(world: MemoryWorld, changes: ScopeChanges = {}) {
  const before = world.writes.length;
  const outcome = await kubeconfig.run(scopeOf(world, { facts: { endpoint }, ...changes }));
  if (outcome.kind !== 'done') throw new Error(outcome.message);
  return { written: world.writes.slice(before), again: outcome.again };
}

async function withAuthorities(): Promise<MemoryWorld> {
  const world = new MemoryWorld();
  await authorities.run(scopeOf(world));
  return world;
}

const textIn = (world: MemoryWorld) => valueOf(world.get<SecretObject>(Secret, name), 'value');
const clientIn = (world: MemoryWorld) => new X509Certificate(clientOf(textIn(world))?.certificate ?? '');

it('is a Secret as Cluster API looks for it, in the shape of its own provider', async () => {
  const world = await withAuthorities();
  expect((await runIn(world)).written).toEqual([`create Secret ${name}`]);
  expect(world.get(Secret, name)).toMatchObject({
    type: 'cluster.x-k8s.io/secret',
    metadata: {
      labels: { 'cluster.x-k8s.io/cluster-name': 'c1' },
      ownerReferences: [{ uid: hostedControlPlaneUid, controller: true }],
    },
  });
  const authority = pairOf(world.get<SecretObject>(Secret, 'c1-ca'))?.certificate ?? '';
  const inline = expect.stringMatching(/^[A-Za-z0-9+/=]+$/) as string;
  expect(parse(textIn(world) ?? '')).toEqual({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'c1',
        cluster: {
          server: 'https://192.0.2.10:6443',
          'certificate-authority-data': Buffer.from(authority).toString('base64'),
        },
      },
    ],
    users: [{ name: 'c1-admin', user: { 'client-certificate-data': inline, 'client-key-data': inline } }],
    contexts: [{ name: 'c1-admin@c1', context: { cluster: 'c1', user: 'c1-admin' } }],
    'current-context': 'c1-admin@c1',
  });
  expect(clientIn(world).subject).toBe('O=system:masters\nCN=kubernetes-admin');
  expect(clientIn(world).checkIssued(new X509Certificate(authority))).toBe(true);
});

it('rests until its renewal, which keeps everything but the client', async () => {
  const world = await withAuthorities();
  await runIn(world);
  // Created first, so that a user's is never overwritten; the first apply then takes the fields over.
  const { again } = await runIn(world);
  const before = clientIn(world);
  expect((await runIn(world, { now: new Date(again!.getTime() - 1) })).written).toEqual([]);
  const renewed = await runIn(world, { now: again! });
  expect(renewed.written).toEqual([`apply Secret ${name}`]);
  expect(renewed.again!.getTime()).toBeGreaterThan(again!.getTime());
  expect(clientIn(world).publicKey.equals(before.publicKey)).toBe(false);
  expect(clientIn(world).subject).toBe(before.subject);
});

it.each<[string, (world: MemoryWorld) => Promise<ScopeChanges>]>([
  ['another endpoint', async () => ({ facts: { endpoint: { ...endpoint, host: 'api.example.test' } } })],
  [
    'another authority',
    async (world) => {
      world.remove(world.get(Secret, 'c1-ca')!);
      await authorities.run(scopeOf(world));
      return {};
    },
  ],
  [
    'content that cannot be read',
    async (world) => {
      world.put({ ...world.get<StoredObject>(Secret, name)!, data: { value: Buffer.from('{').toString('base64') } });
      return {};
    },
  ],
])('is written anew for %s', async (_, change) => {
  const world = await withAuthorities();
  await runIn(world);
  const changes = await change(world);
  expect((await runIn(world, changes)).written).toEqual([`apply Secret ${name}`]);
  expect((await runIn(world, changes)).written).toEqual([]);
});

it.each<[string, object]>([
  ['labelled', { labels: { 'cluster.x-k8s.io/cluster-name': 'c1' } }],
  [
    'owned by somebody else',
    {
      labels: { 'cluster.x-k8s.io/cluster-name': 'c1' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'other', controller: true }],
    },
  ],
])('of a user is left alone: %s', async (_, metadata) => {
  const world = await withAuthorities();
  const theirs = world.put({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, ...metadata },
    data: { value: 'dGhlaXJz' },
  });
  expect((await runIn(world)).written).toEqual([]);
  expect(await world.read(Secret, name)).toEqual(theirs);
});

it('of a user without a label is labelled, so that its end is seen, and otherwise left alone', async () => {
  const world = await withAuthorities();
  world.put({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, data: { value: 'dGhlaXJz' } });
  expect((await runIn(world)).written).toEqual([`adopt Secret ${name}`]);
  expect(world.get(Secret, name)).toMatchObject({ data: { value: 'dGhlaXJz' } });
  expect((await runIn(world)).written).toEqual([]);
});

it('spells an IPv6 endpoint as a URL does', () => {
  const text = writeKubeconfig({
    cluster: 'c1',
    endpoint: { host: '2001:db8::1', port: 443 },
    authority: '',
    client: { certificate: '', key: '' },
  });
  expect(text).toContain('server: https://[2001:db8::1]:443');
});
