import { execFileSync } from 'node:child_process';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { expect, test } from 'vitest';
import { createSigningRequest } from '../../../reconciler/pki/signing-request.ts';
import { createKey } from '../../../reconciler/pki/key.ts';

test('OpenSSL reads a request for a CA certificate, signed with its own key', async () => {
  const key = createKey();
  const input = await createSigningRequest({ commonName: 'kubernetes' }, key);
  const openssl = (...args: string[]) =>
    execFileSync('openssl', ['req', ...args], { input, encoding: 'utf8', stdio: 'pipe' });
  const text = openssl('-noout', '-verify', '-text', '-nameopt', 'RFC2253');
  expect(text).toContain('Subject: CN=kubernetes\n');
  expect(text).toMatch(/Basic Constraints: critical\s+CA:TRUE\n/);
  expect(text).toMatch(/Key Usage: critical\s+Digital Signature, Certificate Sign, CRL Sign\n/);
  expect(text).toContain('NIST CURVE: P-256');
  const publicHalf = createPublicKey(createPrivateKey(key)).export({ type: 'spki', format: 'pem' });
  expect(openssl('-noout', '-pubkey')).toBe(publicHalf);
  expect(input).not.toContain('PRIVATE KEY');
});

test('a request for a CA below which there is none says so', async () => {
  const input = await createSigningRequest({ commonName: 'etcd-ca', pathLength: 0 }, createKey());
  const text = execFileSync('openssl', ['req', '-noout', '-text'], { input, encoding: 'utf8', stdio: 'pipe' });
  expect(text).toMatch(/Basic Constraints: critical\s+CA:TRUE, pathlen:0\n/);
});
