import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createCA,
  createServiceAccountKey,
  issueCertificate,
  type KeyPair,
  validFor,
} from '../../../reconciler/pki/issue.ts';
import { fingerprint, splitCertificates } from '../../../reconciler/pki/pem.ts';
import type { CertificatePlan } from '../../../constructs/control-plane/certificates/certificate-plans.ts';
import { mustIssue, renewalTime } from '../../../reconciler/pki/reissue-policy.ts';

const year = 365 * 24 * 3600_000;
const now = new Date('2026-11-21T12:00:00Z');
const plan: CertificatePlan = {
  secret: 'c1-apiserver',
  signer: 'cluster',
  commonName: 'kube-apiserver',
  organizations: ['one', 'two'],
  usages: ['server', 'client'],
  hosts: ['localhost', '127.0.0.1', '0:0:0:0:0:0:0:1', 'kubernetes.default.svc', '*.example.test'],
};

let ca: KeyPair;
let other: KeyPair;
let leaf: KeyPair;
beforeAll(async () => {
  [ca, other] = await Promise.all([
    createCA({ commonName: 'kubernetes' }, validFor(10 * year, now)),
    createCA({ commonName: 'kubernetes' }, validFor(10 * year, now)),
  ]);
  leaf = await issueCertificate(plan, ca, validFor(year, now));
});

describe('OpenSSL', () => {
  const directory = mkdtempSync(join(tmpdir(), 'pki-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  const openssl = (...args: string[]) => execFileSync('openssl', args, { encoding: 'utf8', cwd: directory });

  test('verifies the chain for server and client use, and reads the planned fields', () => {
    writeFileSync(join(directory, 'ca.crt'), ca.certificate);
    writeFileSync(join(directory, 'leaf.crt'), leaf.certificate);
    const at = ['-attime', String(now.getTime() / 1000), '-x509_strict', '-CAfile', 'ca.crt'];
    expect(openssl('verify', ...at, '-purpose', 'sslserver', 'leaf.crt')).toContain('OK');
    expect(openssl('verify', ...at, '-purpose', 'sslclient', 'leaf.crt')).toContain('OK');
    const text = openssl(
      'x509',
      '-in',
      'leaf.crt',
      '-noout',
      '-subject',
      '-ext',
      'subjectAltName',
      '-nameopt',
      'RFC2253',
    );
    expect(text).toContain('CN=kube-apiserver');
    expect(text).toContain('O=one');
    expect(text).toContain('O=two');
    expect(text).toContain('DNS:*.example.test');
    expect(text).toContain('IP Address:0:0:0:0:0:0:0:1');
  });
});

test('a new certificate satisfies the policy', () => {
  expect(mustIssue({ plan, current: leaf, ca: ca.certificate, now })).toBeUndefined();
});

test.each<[string, string, () => Partial<Parameters<typeof mustIssue>[0]>]>([
  ['there is none', 'Missing', () => ({ current: undefined })],
  ['it is not a certificate', 'Unreadable', () => ({ current: { certificate: 'x', key: leaf.key } })],
  ['its key is not a key', 'Unreadable', () => ({ current: { ...leaf, key: '' } })],
  ['its key belongs to another certificate', 'KeyMismatch', () => ({ current: { ...leaf, key: other.key } })],
  ['another CA of the same name signed it', 'OtherCA', () => ({ ca: other.certificate })],
  ['its user differs', 'OtherSubject', () => ({ plan: { ...plan, commonName: 'admin' } })],
  ['its groups differ', 'OtherSubject', () => ({ plan: { ...plan, organizations: ['one'] } })],
  ['its usages differ', 'OtherUsages', () => ({ plan: { ...plan, usages: ['client'] } })],
  ['a host is missing', 'OtherHosts', () => ({ plan: { ...plan, hosts: [...plan.hosts, '10.0.0.1'] } })],
  ['it has a surplus host', 'OtherHosts', () => ({ plan: { ...plan, hosts: ['localhost'] } })],
  ['60 % of its lifetime have passed', 'RenewalDue', () => ({ now: new Date(now.getTime() + 0.6 * year) })],
])('it is reissued if %s', (_, reason, change) => {
  const input = { plan, current: leaf, ca: ca.certificate, now, ...change() };
  expect(mustIssue(input)?.reason).toBe(reason);
});

test('renewal starts between 50 and 60 % of the lifetime, at a time that depends on the identity only', () => {
  const times = ['a', 'b', 'c', 'd', 'e'].map((identity) => renewalTime(leaf.certificate, identity).getTime());
  for (const time of times) {
    expect(time).toBeGreaterThanOrEqual(now.getTime() + 0.499 * year);
    expect(time).toBeLessThanOrEqual(now.getTime() + 0.6 * year);
  }
  expect(new Set(times).size).toBe(5);
  expect(renewalTime(leaf.certificate, 'a').getTime()).toBe(times[0]);
});

test('a leaf never outlives its signer', async () => {
  const short = await createCA({ commonName: 'short' }, validFor(3600_000, now));
  const capped = await issueCertificate(plan, short, validFor(year, now));
  const renewal = renewalTime(capped.certificate, 'x').getTime();
  expect(renewal).toBeLessThan(now.getTime() + 3600_000);
});

test("a user's RSA CA signs, and one with another certificate's key is refused by name", async () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const directory = mkdtempSync(join(tmpdir(), 'pki-'));
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  writeFileSync(join(directory, 'ca.key'), key);
  const subject = ['-subj', '/O=Example GmbH/CN=my own', '-utf8', '-days', '30'];
  const certificate = execFileSync('openssl', ['req', '-x509', '-key', 'ca.key', ...subject], {
    encoding: 'utf8',
    cwd: directory,
  });
  rmSync(directory, { recursive: true });
  const today = new Date();
  const issued = await issueCertificate(plan, { certificate, key }, validFor(year, today));
  expect(mustIssue({ plan, current: issued, ca: certificate, now: today })).toBeUndefined();
  await expect(issueCertificate(plan, { certificate, key: other.key }, validFor(year, today))).rejects.toThrow(
    'the tls.key of the CA does not belong to its tls.crt',
  );
});

test.each([
  'jane+ci@example.org',
  'Doe, Jane',
  'a=b',
  'https://issuer.example.org#jane',
  '#0c0e73797374656d3a6d617374657273',
  String.raw`\system:masters`,
  '"system:masters"',
  ' jane ',
  'Jörg',
])('a certificate has exactly the name that was asked for, and is not issued again: %s', async (name) => {
  const named = { ...plan, commonName: name, organizations: [name] };
  const pair = await issueCertificate(named, ca, validFor(year, now));
  expect(mustIssue({ plan: named, current: pair, ca: ca.certificate, now })).toBeUndefined();
  const [file, readable] = [join(tmpdir(), `name-${process.pid}.pem`), 'RFC2253,utf8,-esc_2253,-esc_ctrl,-esc_msb'];
  writeFileSync(file, pair.certificate);
  try {
    const text = execFileSync('openssl', ['x509', '-noout', '-subject', '-nameopt', readable, '-in', file]);
    expect(text.toString().slice(0, -1)).toBe(`subject=CN=${name},O=${name}`);
  } finally {
    rmSync(file);
  }
});

test('a service account key is a PEM public key with its private key', async () => {
  const pair = createServiceAccountKey();
  expect(pair.certificate).toMatch(/^-----BEGIN PUBLIC KEY-----\n/);
  expect(fingerprint(pair.certificate)).toBe(fingerprint(pair.key));
});

test('a fingerprint depends on the public part and differs per certificate', () => {
  expect(fingerprint(leaf.certificate)).toMatch(/^[0-9a-f]{64}$/);
  expect(fingerprint(leaf.certificate)).not.toBe(fingerprint(ca.certificate));
  expect(splitCertificates(leaf.certificate + ca.certificate)).toHaveLength(2);
});
