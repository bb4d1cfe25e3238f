import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { expect, it } from 'vitest';
import { isSignedBy, readCertificate } from '../../../reconciler/pki/certificate.ts';
import {
  authorityKeyIdentifier,
  createCA,
  issueCertificate,
  signingCA,
  validFor,
} from '../../../reconciler/pki/issue.ts';
import { createKey, cryptoKeys } from '../../../reconciler/pki/key.ts';
import { bundle } from '../../../reconciler/pki/pem.ts';

const validity = validFor(3_600_000, new Date('2026-11-21T12:00:00Z'));
const plan = { commonName: 'client', organizations: [], usages: ['client'], hosts: [] } as const;

it('a certificate that names a CA and its key, but is signed with another key, is not signed by that CA', async () => {
  const [ca, impostor] = await Promise.all([
    createCA({ commonName: 'kubernetes' }, validity),
    createCA({ commonName: 'kubernetes' }, validity),
  ]);
  const signer = await signingCA(impostor);
  const named = new x509.X509Certificate(ca.certificate);
  const forged = await x509.X509CertificateGenerator.create({
    subject: 'CN=client',
    issuer: named.subjectName,
    ...validity,
    signingAlgorithm: signer.algorithm,
    signingKey: signer.key,
    publicKey: cryptoKeys(createKey()).publicKey,
    extensions: [await authorityKeyIdentifier(named)],
  });
  expect(isSignedBy(bundle(forged.toString('pem')), ca.certificate)).toBe(false);

  const genuine = await issueCertificate(plan, ca, validity);
  expect(isSignedBy(genuine.certificate, ca.certificate)).toBe(true);
});

it('each certificate is parsed once', async () => {
  const [one, other] = await Promise.all([
    createCA({ commonName: 'one' }, validity),
    createCA({ commonName: 'other' }, validity),
  ]);
  expect(readCertificate(one.certificate)).toBe(readCertificate(one.certificate));
  expect(readCertificate(other.certificate).commonNames).toEqual(['other']);
});
