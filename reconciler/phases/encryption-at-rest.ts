import { done, type Outcome } from '../outcome.ts';
import type { Phase } from '../scope.ts';
import { etcdCertificates } from './certificates.ts';

/** The keys with which API servers encrypt Secrets, and their rotation. */
export const encryptionAtRest: Phase = {
  condition: 'EncryptionAtRestReady',
  needs: [etcdCertificates],
  async run(): Promise<Outcome> {
    return done();
  },
};
