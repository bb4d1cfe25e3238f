import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { createPublicKey } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { isSignedBy } from '../../../../reconciler/pki/certificate.ts';
import { issueCertificate, validFor } from '../../../../reconciler/pki/issue.ts';
import { createSigningRequest } from '../../../../reconciler/pki/signing-request.ts';
import { createKey } from '../../../../reconciler/pki/key.ts';
import { mustIssue } from '../../../../reconciler/pki/reissue-policy.ts';
import { caExtensions, publicHalf, SigningIssuer, type SignOptions } from '../../../support/issuer.ts';
import { issuedProblem } from '../../../../reconciler/certificates/issuer/obtain-ca.ts';

const now = new Date('2026-11-21T12:00:00Z');
const key = createKey();
const der = createPublicKey(publicHalf(key)).export({ type: 'spki', format: 'der' });
const [basic, usages, identifier] = caExtensions(der) as [x509.Extension, x509.Extension, x509.Extension];

let issuer: SigningIssuer;
beforeAll(async () => {
  issuer = await SigningIssuer.create(now);
});

async function problem(options: Partial<SignOptions> = {}, otherKey = key): Promise<string | undefined> {
  const certificate = await issuer.sign(await createSigningRequest({ commonName: 'kubernetes' }, otherKey), {
    now,
    ...options,
  });
  return issuedProblem({ certificate, key, commonName: 'kubernetes', secret: 'c1-ca', now });
}

describe('a CA certificate that an issuer has signed', () => {
  it('can be used if it is as requested, also if it may not sign further CAs', async () => {
    expect(await problem()).toBeUndefined();
    expect(await problem({ extensions: caExtensions(der, 0) })).toBeUndefined();
  });

  it.each<[string, Partial<SignOptions>, string]>([
    ['that is a leaf certificate', { extensions: [new x509.BasicConstraintsExtension(false)] }, 'CA: false'],
    ['of another name', { commonName: 'else' }, 'not kubernetes'],
    [
      'that must not sign certificates',
      { extensions: [basic, new x509.KeyUsagesExtension(x509.KeyUsageFlags.cRLSign, true), identifier] },
      'keyCertSign',
    ],
    [
      'for server certificates only',
      { extensions: [basic, usages, new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth])] },
      'servers and clients',
    ],
    [
      'with name constraints',
      { extensions: [basic, usages, new x509.Extension('2.5.29.30', true, Buffer.from('3000', 'hex'))] },
      'name constraints',
    ],
    ['with a short lifetime', { hours: 23 }, 'its lifetime is 23h'],
    ['that begins later', { now: new Date(now.getTime() + 3_600_000) }, 'it is not valid before'],
    ['issued long ago', { now: new Date(now.getTime() - 700 * 3_600_000) }, 'half of its lifetime'],
  ])('is refused if it is one %s', async (_, options, message) => {
    expect(await problem(options)).toContain(message);
  });

  it('is refused if it is for another key, or unreadable', async () => {
    expect(await problem({}, createKey())).toBe('it is for another key');
    expect(issuedProblem({ certificate: 'text', key, commonName: 'kubernetes', secret: 'c1-ca', now })).toBe(
      'it cannot be read',
    );
  });

  it('signs certificates that OpenSSL accepts, although Go hashes its key id differently', async () => {
    const certificate = await issuer.sign(await createSigningRequest({ commonName: 'kubernetes' }, key), { now });
    const plan = {
      secret: 'c1-apiserver',
      signer: 'cluster',
      commonName: 'kube-apiserver',
      organizations: [],
      usages: ['server'],
      hosts: ['localhost'],
    } as const;
    const leaf = await issueCertificate(plan, { certificate, key }, validFor(3_600_000, now));
    expect(isSignedBy(leaf.certificate, certificate)).toBe(true);
    expect(isSignedBy(leaf.certificate, issuer.root.certificate)).toBe(false);
    expect(mustIssue({ plan, current: leaf, ca: certificate, now })).toBeUndefined();
  });
});
