import 'reflect-metadata';
import { createCA, issueCertificate, type KeyPair, validFor } from '../../pki/issue.ts';

const years = 365 * 24 * 3_600_000;

/**
 * A certificate for the metrics of this process, by a CA whose key is forgotten: it encrypts, and Prometheus does not verify it. It is valid for
 * longer than any pod lives.
 */
export async function servingCertificate(now: Date): Promise<KeyPair> {
  const validity = validFor(10 * years, now);
  const ca = await createCA({ commonName: 'hosted-control-plane-metrics' }, validity);
  const plan = {
    commonName: 'hosted-control-plane-metrics',
    organizations: [],
    usages: ['server'],
    hosts: ['localhost'],
  } as const;
  return issueCertificate(plan, ca, validity);
}
