import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createServiceAccountKey } from '../../../reconciler/pki/issue.ts';
import { bundle, signerFingerprint, trustFingerprint } from '../../../reconciler/pki/pem.ts';
import { keyProblem } from '../../../reconciler/pki/reissue-policy.ts';
import { idOfPrivateKey, verifyingKeysOf } from '../../../reconciler/pki/service-account-keys.ts';

/** An RSA key as old kubeadm versions and many users have it. */
const rsa = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'pkcs1', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
});

const first = createServiceAccountKey();
const second = createServiceAccountKey();

describe('several service account keys', () => {
  it('are read in their order, of any kind', () => {
    const ids = verifyingKeysOf(bundle(rsa.publicKey, first.certificate)).map(({ id }) => id);
    expect(ids).toEqual([idOfPrivateKey(rsa.privateKey), idOfPrivateKey(first.key)]);
  });

  it('are usable if the private key belongs to the first', () => {
    const certificate = bundle(second.certificate, first.certificate, rsa.publicKey);
    expect(keyProblem('c1-sa', { certificate, key: second.key })).toBeUndefined();
    expect(keyProblem('c1-sa', { certificate, key: first.key })).toContain('does not belong to its tls.crt');
  });

  it('restart verifying components when one is added or removed, and signing components when the first one changes', () => {
    const one = bundle(first.certificate, second.certificate);
    const other = bundle(second.certificate, first.certificate);
    expect(trustFingerprint(one)).toBe(trustFingerprint(other));
    expect(trustFingerprint(one)).not.toBe(trustFingerprint(first.certificate));
    expect(signerFingerprint(one)).not.toBe(signerFingerprint(other));
  });
});
