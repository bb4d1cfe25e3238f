import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../../constructs/api/resources.ts';
import type { Facts } from '../../../constructs/cluster/facts.ts';
import { runPhases } from '../../../reconciler/engine/run-phases.ts';
import { authorities } from '../../../reconciler/phases/cas.ts';
import { certificates, etcdCertificates } from '../../../reconciler/phases/certificates.ts';
import { fingerprint } from '../../../reconciler/pki/pem.ts';
import { planEtcdCertificates } from '../../../constructs/control-plane/certificates/plan.ts';
import { pairOf, type SecretObject } from '../../../reconciler/pki/secret.ts';
import { MemoryWorld, type StoredObject } from '../../support/memory-world.ts';
import { hostedCluster, now, type ScopeChanges, scopeOf } from '../../support/scope.ts';

const day = 24 * 3600_000;
const etcdSecrets = planEtcdCertificates(hostedCluster()).map(({ secret }) => secret);
const address = { host: '192.0.2.10', port: 6443 };
const facts: Partial<Facts> = { endpoint: address, konnectivityEndpoint: { ...address, port: 8132 } };

const secretIn = (world: MemoryWorld, name: string) => world.get<SecretObject & StoredObject>(Secret, name)!;
const certificateIn = (world: MemoryWorld, name: string) => pairOf(secretIn(world, name))?.certificate ?? '';
const inDays = (days: number): ScopeChanges => ({ now: new Date(now.getTime() + days * day) });

/** Runs etcd's phase alone and tells what it wrote. */
async function issueIn(world: MemoryWorld, changes: ScopeChanges = {}) {
  const before = world.writes.length;
  const outcome = await etcdCertificates.run(scopeOf(world, changes));
  if (outcome.kind !== 'done') throw new Error(outcome.message);
  return { written: world.writes.slice(before), ...outcome };
}

async function withAuthorities(changes: ScopeChanges = {}): Promise<MemoryWorld> {
  const world = new MemoryWorld();
  await authorities.run(scopeOf(world, changes));
  return world;
}

describe('certificates', () => {
  it('are issued once, and their fingerprints become facts', async () => {
    const world = await withAuthorities();
    expect((await issueIn(world)).written).toEqual(etcdSecrets.map((name) => `apply Secret ${name}`));
    const again = await issueIn(world);
    expect(again.written).toEqual([]);
    expect(again.facts).toEqual({
      certificates: Object.fromEntries(etcdSecrets.map((name) => [name, fingerprint(certificateIn(world, name))])),
    });
    expect(secretIn(world, 'c1-etcd-server')).toMatchObject({ type: 'kubernetes.io/tls' });
  });

  it('are due for a look at the earliest renewal, which renews that one and names the next', async () => {
    const world = await withAuthorities();
    const { again } = await issueIn(world);
    const justBefore = new Date(again!.getTime() - 1);
    expect((await issueIn(world, { now: justBefore })).written).toEqual([]);
    const renewed = await issueIn(world, { now: again! });
    expect(renewed.written).toHaveLength(1);
    expect(renewed.again!.getTime()).toBeGreaterThan(again!.getTime());
  });

  it.each<[number, number]>([
    [0, 0],
    [182, 0],
    [220, 4],
  ])('after %d days of a year, %d of 4 are renewed', async (days, count) => {
    const world = await withAuthorities();
    await issueIn(world);
    expect((await issueIn(world, inDays(days))).written).toHaveLength(count);
  });

  it('live as long as the spec says, and are renewed in the first half of that', async () => {
    const changes = { spec: { certificates: { leafCertificateDuration: '48h', shortLived: true } } };
    const world = await withAuthorities(changes);
    const { again } = await issueIn(world, changes);
    expect(Date.parse(new X509Certificate(certificateIn(world, 'c1-etcd-peer')).validTo) - now.getTime()).toBe(2 * day);
    expect(again!.getTime() - now.getTime()).toBeGreaterThan(0.9 * day);
    expect(again!.getTime() - now.getTime()).toBeLessThan(1.2 * day);
  });

  it('are issued again when they are gone or not what they should be, and the others stay', async () => {
    const world = await withAuthorities();
    await issueIn(world);
    world.remove(secretIn(world, 'c1-etcd-peer'));
    const server = secretIn(world, 'c1-etcd-server');
    world.put({ ...server, data: { ...server.data, 'tls.key': secretIn(world, 'c1-ca').data?.['tls.key'] } });
    const client = certificateIn(world, 'c1-apiserver-etcd-client');
    expect((await issueIn(world)).written).toEqual(['apply Secret c1-etcd-server', 'apply Secret c1-etcd-peer']);
    expect(certificateIn(world, 'c1-apiserver-etcd-client')).toBe(client);
  });

  it('are all issued again by an authority that was replaced', async () => {
    const world = await withAuthorities();
    await issueIn(world);
    world.remove(secretIn(world, 'c1-etcd'));
    await authorities.run(scopeOf(world));
    expect((await issueIn(world)).written).toHaveLength(4);
  });

  it('name the authority that vanished meanwhile', async () => {
    const world = await withAuthorities();
    world.remove(secretIn(world, 'c1-etcd'));
    await expect(issueIn(world)).rejects.toThrow('Secret c1-etcd with a certificate authority is gone again');
  });

  it('of the API server follow endpoint and names, and only they', async () => {
    const world = await withAuthorities();
    await certificates.run(scopeOf(world, { facts }));
    const before = world.writes.length;
    const run = (changes: ScopeChanges) => certificates.run(scopeOf(world, changes));
    await run({ facts });
    expect(world.writes).toHaveLength(before);
    await run({ facts, spec: { apiServer: { certSANs: ['api.example.test'] } } });
    expect(world.writes.slice(before)).toEqual(['apply Secret c1-apiserver']);
    expect(new X509Certificate(certificateIn(world, 'c1-apiserver')).subjectAltName).toContain('DNS:api.example.test');
  });

  it('wait for the endpoint, those of etcd do not', async () => {
    const world = new MemoryWorld();
    const results = await runPhases([authorities, etcdCertificates, certificates], scopeOf(world));
    expect(results.map(({ verdict }) => verdict.reason)).toEqual([
      'ReconcileSucceeded',
      'ReconcileSucceeded',
      'WaitingForOtherPhases',
    ]);
  });
});
