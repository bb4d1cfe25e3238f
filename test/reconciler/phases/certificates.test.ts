import type { SecretObject } from '../../../imports/kubernetes.ts';
import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../../constructs/api/resources.ts';
import type { Facts } from '../../../constructs/cluster/facts.ts';
import { runPhases } from '../../../reconciler/engine/run-phases.ts';
import { caCertificates } from '../../../reconciler/phases/ca-certificates.ts';
import { certificates, etcdCertificates } from '../../../reconciler/phases/certificates.ts';
import { fingerprint } from '../../../reconciler/pki/pem.ts';
import { planEtcdCertificates } from '../../../constructs/control-plane/certificates/certificate-plans.ts';
import { pairOf } from '../../../reconciler/pki/secret.ts';
import { MemoryObjects, type StoredObject } from '../../support/memory-objects.ts';
import { hostedCluster, now, type ScopeChanges, scopeOf } from '../../support/scope.ts';

const day = 24 * 3600_000;
const etcdSecrets = planEtcdCertificates(hostedCluster()).map(({ secret }) => secret);
const address = { host: '192.0.2.10', port: 6443 };
const facts: Partial<Facts> = { endpoint: address, konnectivityEndpoint: { ...address, port: 8132 } };

const secretIn = (management: MemoryObjects, name: string) =>
  management.get<SecretObject & StoredObject>(Secret, name)!;
const certificateIn = (management: MemoryObjects, name: string) =>
  pairOf(secretIn(management, name))?.certificate ?? '';
const inDays = (days: number): ScopeChanges => ({ now: new Date(now.getTime() + days * day) });

/** Runs etcd's phase alone and returns its writes. */
async function issueIn(management: MemoryObjects, changes: ScopeChanges = {}) {
  const before = management.writes.length;
  const outcome = await etcdCertificates.run(scopeOf(management, changes));
  if (outcome.kind !== 'done') throw new Error(outcome.message);
  return { written: management.writes.slice(before), ...outcome };
}

async function withCAs(changes: ScopeChanges = {}): Promise<MemoryObjects> {
  const management = new MemoryObjects();
  await caCertificates.run(scopeOf(management, changes));
  return management;
}

describe('certificates', () => {
  it('are issued once, and their fingerprints become facts', async () => {
    const management = await withCAs();
    expect((await issueIn(management)).written).toEqual(etcdSecrets.map((name) => `apply Secret ${name}`));
    const repeated = await issueIn(management);
    expect(repeated.written).toEqual([]);
    expect(repeated.facts).toEqual({
      certificates: Object.fromEntries(etcdSecrets.map((name) => [name, fingerprint(certificateIn(management, name))])),
    });
    expect(secretIn(management, 'c1-etcd-server')).toMatchObject({ type: 'kubernetes.io/tls' });
  });

  it('are requeued at the earliest renewal, which renews that certificate and returns the next time', async () => {
    const management = await withCAs();
    const { requeueAt } = await issueIn(management);
    const justBefore = new Date(requeueAt!.getTime() - 1);
    expect((await issueIn(management, { now: justBefore })).written).toEqual([]);
    const renewed = await issueIn(management, { now: requeueAt! });
    expect(renewed.written).toHaveLength(1);
    expect(renewed.requeueAt!.getTime()).toBeGreaterThan(requeueAt!.getTime());
  });

  it.each<[number, number]>([
    [0, 0],
    [182, 0],
    [220, 4],
  ])('after %d days of a year, %d of 4 are renewed', async (days, count) => {
    const management = await withCAs();
    await issueIn(management);
    expect((await issueIn(management, inDays(days))).written).toHaveLength(count);
  });

  it('live as long as the spec says, and are renewed in the first half of their lifetime', async () => {
    const changes = { spec: { certificates: { leafCertificateDuration: '48h', shortLived: true } } };
    const management = await withCAs(changes);
    const { requeueAt } = await issueIn(management, changes);
    expect(Date.parse(new X509Certificate(certificateIn(management, 'c1-etcd-peer')).validTo) - now.getTime()).toBe(
      2 * day,
    );
    expect(requeueAt!.getTime() - now.getTime()).toBeGreaterThan(0.9 * day);
    expect(requeueAt!.getTime() - now.getTime()).toBeLessThan(1.2 * day);
  });

  it('are reissued if they are gone or wrong, and the others stay', async () => {
    const management = await withCAs();
    await issueIn(management);
    management.remove(secretIn(management, 'c1-etcd-peer'));
    const server = secretIn(management, 'c1-etcd-server');
    management.put({ ...server, data: { ...server.data, 'tls.key': secretIn(management, 'c1-ca').data?.['tls.key'] } });
    const client = certificateIn(management, 'c1-apiserver-etcd-client');
    expect((await issueIn(management)).written).toEqual(['apply Secret c1-etcd-server', 'apply Secret c1-etcd-peer']);
    expect(certificateIn(management, 'c1-apiserver-etcd-client')).toBe(client);
  });

  it('are all reissued by a CA that was replaced', async () => {
    const management = await withCAs();
    await issueIn(management);
    management.remove(secretIn(management, 'c1-etcd'));
    await caCertificates.run(scopeOf(management));
    expect((await issueIn(management)).written).toHaveLength(4);
  });

  it('name the CA that is gone meanwhile', async () => {
    const management = await withCAs();
    management.remove(secretIn(management, 'c1-etcd'));
    await expect(issueIn(management)).rejects.toThrow('Secret c1-etcd with a CA was deleted during the reconcile');
  });

  it('of the API server follow endpoint and names, and the others do not', async () => {
    const management = await withCAs();
    await certificates.run(scopeOf(management, { facts }));
    const before = management.writes.length;
    const run = (changes: ScopeChanges) => certificates.run(scopeOf(management, changes));
    await run({ facts });
    expect(management.writes).toHaveLength(before);
    await run({ facts, spec: { apiServer: { certSANs: ['api.example.test'] } } });
    expect(management.writes.slice(before)).toEqual(['apply Secret c1-apiserver']);
    expect(new X509Certificate(certificateIn(management, 'c1-apiserver')).subjectAltName).toContain(
      'DNS:api.example.test',
    );
  });

  it('wait for the endpoint, but those of etcd do not', async () => {
    const management = new MemoryObjects();
    const results = await runPhases([caCertificates, etcdCertificates, certificates], scopeOf(management));
    expect(results.map(({ update }) => update.reason)).toEqual([
      'ReconcileSucceeded',
      'ReconcileSucceeded',
      'WaitingForOtherPhases',
    ]);
  });
});
