import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { createPublicKey } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { isSignedBy } from '../../../../reconciler/pki/certificate.ts';
import { issueCertificate, validFor } from '../../../../reconciler/pki/issue.ts';
import { issuedProblem } from '../../../../reconciler/pki/issuer/issued-ca.ts';
import { createSigningRequest } from '../../../../reconciler/pki/issuer/signing-request.ts';
import { createKey } from '../../../../reconciler/pki/key.ts';
import { mustIssue } from '../../../../reconciler/pki/policy.ts';
import { caExtensions, publicHalf, SigningIssuer, type SignOptions } from '../../../support/issuer.ts';

const now = new Date('2026-11-21T12:00:00Z');
const key = createKey();
const der = createPublicKey(publicHalf(key)).export({ type: 'spki', format: 'der' });
const [basic, usages, identifier] = caExtensions(der) as [x509.Extension, x509.Extension, x509.Extension];

let issuer: SigningIssuer;
beforeAll(async () => {
  issuer = await SigningIssuer.create(now);
});

async function problem(options: Partial<SignOptions> = {}, otherKey = key): Promise<string | undefined> {
  const certificate = await issuer.sign(await createSigningRequest('kubernetes', otherKey), { now, ...options });
  return issuedProblem({ certificate, key, commonName: 'kubernetes', secret: 'c1-ca', now });
}

describe('an authority that an issuer has signed', () => {
  it('can be used as it is asked for, also when it may sign no further authorities', async () => {
    expect(await problem()).toBeUndefined();
    expect(await problem({ extensions: caExtensions(der, 0) })).toBeUndefined();
  });

  it.each<[string, Partial<SignOptions>, string]>([
    ['that is no authority', { extensions: [new x509.BasicConstraintsExtension(false)] }, 'CA: false'],
    ['of another name', { commonName: 'else' }, 'not kubernetes'],
    [
      'that may not sign certificates',
      { extensions: [basic, new x509.KeyUsagesExtension(x509.KeyUsageFlags.cRLSign, true), identifier] },
      'keyCertSign',
    ],
    [
      'that may sign for servers only',
      { extensions: [basic, usages, new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth])] },
      'servers and clients',
    ],
    [
      'that is limited to some names',
      { extensions: [basic, usages, new x509.Extension('2.5.29.30', true, Buffer.from('3000', 'hex'))] },
      'name constraints',
    ],
    ['that lives too short', { hours: 23 }, 'its lifetime is 23h'],
    ['of long ago', { now: new Date(now.getTime() - 700 * 3_600_000) }, 'half of its lifetime'],
  ])('is refused when it is one %s', async (_, options, message) => {
    expect(await problem(options)).toContain(message);
  });

  it('is refused when it is for another key, or nothing that can be read', async () => {
    expect(await problem({}, createKey())).toBe('it is for another key');
    expect(issuedProblem({ certificate: 'text', key, commonName: 'kubernetes', secret: 'c1-ca', now })).toBe(
      'it cannot be read',
    );
  });

  it('signs what OpenSSL accepts, although Go has named its key by another hash than ours', async () => {
    const certificate = await issuer.sign(await createSigningRequest('kubernetes', key), { now });
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
