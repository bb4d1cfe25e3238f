import type { SecretObject } from '../../../imports/kubernetes.ts';
import { X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import type { Outcome } from '../../../reconciler/engine/outcome.ts';
import { caCertificates } from '../../../reconciler/phases/ca-certificates.ts';
import {
  createCA,
  createServiceAccountKey,
  issueCertificate,
  type KeyPair,
  validFor,
} from '../../../reconciler/pki/issue.ts';
import { fingerprint } from '../../../reconciler/pki/pem.ts';
import { adminPlan } from '../../../constructs/control-plane/certificates/certificate-plans.ts';
import { pairOf } from '../../../reconciler/pki/secret.ts';
import { MemoryObjects, type StoredObject } from '../../support/memory-objects.ts';
import { hostedControlPlaneUid, now, type ScopeChanges, scopeOf } from '../../support/scope.ts';

const names = ['c1-ca', 'c1-etcd', 'c1-proxy', 'c1-sa'];
const hour = 3600_000;
const initialized = { status: { initialization: { controlPlaneInitialized: true } } };

let own: KeyPair;
let leaf: KeyPair;
let key: KeyPair;
beforeAll(async () => {
  own = await createCA({ commonName: 'my own' }, validFor(hour, now));
  leaf = await issueCertificate(adminPlan('c1'), own, validFor(hour, now));
  key = createServiceAccountKey();
});

const runIn = (management: MemoryObjects, changes: ScopeChanges = {}): Promise<Outcome> =>
  caCertificates.run(scopeOf(management, changes));
const secretIn = (management: MemoryObjects, name: string) => management.get<SecretObject & StoredObject>(Secret, name);

/** A Secret as a user creates it, without label and owner. */
function usersSecret(name: string, values: Readonly<Record<string, string>>): StoredObject {
  const data = Object.fromEntries(
    Object.entries(values).map(([field, text]) => [field, Buffer.from(text).toString('base64')]),
  );
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, type: 'kubernetes.io/tls', data };
}

const files = ({ certificate, key: tlsKey }: KeyPair) => ({ 'tls.crt': certificate, 'tls.key': tlsKey });

async function created(changes: ScopeChanges = {}): Promise<MemoryObjects> {
  const management = new MemoryObjects();
  await runIn(management, changes);
  return management;
}

describe('CAs that the operator creates', () => {
  it('are created once, where bootstrap providers expect them, owned by the HostedControlPlane', async () => {
    const management = await created();
    expect(management.writes).toEqual(names.map((name) => `create Secret ${name}`));
    for (const name of names) {
      expect(secretIn(management, name)).toMatchObject({
        type: 'cluster.x-k8s.io/secret',
        metadata: {
          labels: { 'cluster.x-k8s.io/cluster-name': 'c1' },
          ownerReferences: [{ uid: hostedControlPlaneUid, controller: true }],
        },
      });
    }
    const repeated = await runIn(management);
    expect(management.writes).toHaveLength(names.length);
    const fingerprints = Object.fromEntries(
      names.map((name) => [name, fingerprint(pairOf(secretIn(management, name))?.certificate ?? '')]),
    );
    expect(repeated).toEqual({
      kind: 'done',
      requeueAt: undefined,
      facts: {
        clusterCA: pairOf(secretIn(management, 'c1-ca'))?.certificate,
        certificates: fingerprints,
        signers: fingerprints,
      },
    });
  });

  it('share no key', async () => {
    const management = await created();
    const keys = names.map((name) => pairOf(secretIn(management, name))?.key);
    expect(new Set(keys).size).toBe(names.length);
  });

  it('live as long as the spec says, the cluster CA longer than the others', async () => {
    const certificates = { rootCaCertificateDuration: '2000h', caCertificateDuration: '1000h' };
    const management = await created({ spec: { certificates } });
    const hours = names.slice(0, 3).map((name) => {
      const { validTo } = new X509Certificate(pairOf(secretIn(management, name))?.certificate ?? '');
      return (Date.parse(validTo) - now.getTime()) / hour;
    });
    expect(hours).toEqual([2000, 1000, 1000]);
  });

  it('that expire too early for their certificates are used, and reported', async () => {
    const leafCertificateDuration = '1000h';
    const certificates = {
      rootCaCertificateDuration: '2000h',
      caCertificateDuration: '1500h',
      leafCertificateDuration,
    };
    const outcome = await runIn(await created({ spec: { certificates } }), { spec: { certificates } });
    expect(outcome).toMatchObject({
      kind: 'done',
      message: expect.stringContaining(
        'Secret c1-etcd, c1-proxy has less than twice the lifetime of certificates',
      ) as string,
    });
  });

  it.each(names)('block the phase when %s is gone after workers may have joined', async (name) => {
    const management = await created();
    management.remove(secretIn(management, name)!);
    management.writes.length = 0;
    expect(await runIn(management, initialized)).toMatchObject({
      kind: 'wait',
      reason: 'CACertificateMissing',
      message: expect.stringContaining(`Secret ${name} does not exist`) as string,
      afterMs: 30_000,
    });
    expect(management.writes).toEqual([]);
  });
});

describe("a user's own", () => {
  it.each([{}, initialized])('CA is used and labelled, and not changed otherwise', async (changes) => {
    const management = await created();
    management.remove(secretIn(management, 'c1-ca')!);
    management.writes.length = 0;
    const given = management.put(usersSecret('c1-ca', files(own)));
    const outcome = await runIn(management, changes);
    expect(outcome).toMatchObject({ kind: 'done', facts: { certificates: { 'c1-ca': fingerprint(own.certificate) } } });
    expect(management.writes).toEqual(['adopt Secret c1-ca']);
    const labels = selectorLabels('c1', 'certificates');
    expect(secretIn(management, 'c1-ca')).toEqual({ ...given, metadata: { ...given.metadata, labels } });
    await runIn(management, changes);
    expect(management.writes).toHaveLength(1);
  });

  it.each<[string, string, () => Readonly<Record<string, string>>, string]>([
    ['CA without key', 'c1-ca', () => ({ 'tls.crt': own.certificate }), 'no readable certificate and key'],
    ['CA without certificate', 'c1-ca', () => ({ 'tls.key': own.key }), 'no certificate in tls.crt'],
    [
      'CA with the key of another certificate',
      'c1-etcd',
      () => ({ ...files(own), 'tls.key': leaf.key }),
      'does not belong to its tls.crt',
    ],
    ['CA that is a leaf certificate', 'c1-proxy', () => files(leaf), 'is not a CA certificate'],
    [
      'CA that cannot be parsed',
      'c1-ca',
      () => ({ 'tls.crt': 'text', 'tls.key': 'text' }),
      'no certificate in tls.crt',
    ],
    [
      'service account key without its private half',
      'c1-sa',
      () => ({ 'tls.crt': key.certificate }),
      'private key in tls.key',
    ],
    [
      'service account key with another private half',
      'c1-sa',
      () => ({ ...files(key), 'tls.key': own.key }),
      'does not belong to its tls.crt',
    ],
  ])('%s is reported, and no replacement is created', async (_, name, values, message) => {
    const management = new MemoryObjects();
    management.put(usersSecret(name, values()));
    const outcome = await runIn(management);
    expect(outcome).toMatchObject({ kind: 'wait', reason: 'CACertificateInvalid', afterMs: 30_000 });
    expect(outcome).toHaveProperty('message', expect.stringContaining(`Secret ${name} `));
    expect(outcome).toHaveProperty('message', expect.stringContaining(message));
    expect(management.writes).not.toContain(`create Secret ${name}`);
  });

  it('CA that has expired is reported with the time', async () => {
    const management = new MemoryObjects();
    management.put(usersSecret('c1-ca', files(own)));
    const outcome = await runIn(management, { now: new Date(now.getTime() + hour + 1000) });
    expect(outcome).toMatchObject({
      reason: 'CACertificateInvalid',
      message: expect.stringContaining('expired on 2026-11-21T13:00:00.000Z') as string,
    });
  });
});
