import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readCertificate } from '../../../reconciler/pki/certificate.ts';
import { crossCertify, validChain } from '../../../reconciler/pki/cross-certificate.ts';
import { createCA, issueCertificate, type KeyPair, validFor } from '../../../reconciler/pki/issue.ts';

const year = 365 * 24 * 3600_000;
const now = new Date('2026-11-21T12:00:00Z');
const ca = (years: number) => createCA({ commonName: 'kubernetes' }, validFor(years * year, now));
const directory = mkdtempSync(join(tmpdir(), 'cross-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** Whether OpenSSL verifies a server and a client with the chain they present, if only one CA is trusted. */
function verifies(leaf: KeyPair, chain: readonly string[], trusted: KeyPair): boolean {
  const files = { 'leaf.crt': leaf.certificate, 'chain.crt': chain.join(''), 'ca.crt': trusted.certificate };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  const untrusted = chain.length > 0 ? ['-untrusted', 'chain.crt'] : [];
  const at = ['-attime', String(now.getTime() / 1000), '-x509_strict', '-CAfile', 'ca.crt', ...untrusted];
  return ['sslserver', 'sslclient'].every((purpose) => {
    try {
      execFileSync('openssl', ['verify', ...at, '-purpose', purpose, 'leaf.crt'], { cwd: directory, stdio: 'pipe' });
      return true;
    } catch {
      return false;
    }
  });
}

const plan = { commonName: 'x', organizations: [], usages: ['server', 'client'], hosts: ['localhost'] } as const;

test('a client that trusts only an earlier CA verifies a leaf of the current CA by its chain, over two rotations', async () => {
  const [first, second, third] = await Promise.all([ca(10), ca(10), ca(10)]);
  const leaf = await issueCertificate(plan, third, validFor(year, now));
  const chain = [
    await crossCertify(third.certificate, second, now),
    await crossCertify(second.certificate, first, now),
  ];
  expect(verifies(leaf, [], third)).toBe(true);
  expect(verifies(leaf, [], first)).toBe(false);
  for (const trusted of [first, second, third]) expect(verifies(leaf, chain, trusted)).toBe(true);
  expect(verifies(leaf, chain.slice(0, 1), first)).toBe(false);
});

test('a cross certificate expires with the first of both CAs, and is left out once it has expired', async () => {
  const [old, next] = await Promise.all([ca(1), ca(10)]);
  const cross = await crossCertify(next.certificate, old, now);
  expect(readCertificate(cross).notAfter).toEqual(readCertificate(old.certificate).notAfter);
  expect(validChain(`${cross}${cross}`, now)).toHaveLength(2);
  expect(validChain(cross, new Date(now.getTime() + year + 1000))).toEqual([]);
  expect(validChain('', now)).toEqual([]);
});
