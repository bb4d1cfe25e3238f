import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import { Secret } from '../../../constructs/api/resources.ts';
import { readEncryptionKey } from '../../../reconciler/backup/encryption-keys.ts';
import { BackupWorkbench, unverifiedBackup } from '../../support/backup-workbench.ts';
import { FlakyProxy } from '../../support/flaky-proxy.ts';
import { Loan } from '../../support/lent/loan.ts';
import { startS3 } from '../../support/s3.ts';
import { SmallDisk } from '../../support/small-disk.ts';

/** The limit of waits: the machine may be busy. */
export const limitMs = 240_000;
const key = randomBytes(32);
const keys = 'backup-keys';

/** Its backups are encrypted, and it keeps three. */
export const backup = {
  ...unverifiedBackup,
  encryption: { secretName: keys },
  retention: { maxCount: 3 },
};

/** What the store of a {@link BackedUp} has of a machine that may fail. */
interface Parts {
  readonly bench: BackupWorkbench;
  /** Of the S3 server. */
  readonly disk: SmallDisk;
  /** Between the operator and the S3 server. */
  readonly proxy: FlakyProxy;
}

/** The lent control plane `c1` with a bucket, for the tests of a file. */
export class BackedUp {
  #parts: Parts | undefined;

  constructor() {
    const loan = new Loan('plain');
    beforeAll(async () => {
      const disk = await SmallDisk.mount(64);
      const s3 = await startS3('tls', { place: disk.directory });
      const proxy = await FlakyProxy.start(Number(new URL(s3.settings.endpoint ?? '').port));
      const endpoint = `https://127.0.0.1:${proxy.port}`;
      const bench = await BackupWorkbench.borrow(loan, { withoutImage: true, s3, endpoint });
      this.#parts = { bench, disk, proxy };
      const { apiVersion, kind } = Secret;
      const metadata = { namespace: bench.namespace, name: keys };
      const data = { '2026': key.toString('base64') };
      await bench.client.apply({ apiVersion, kind, metadata, data }, { fieldManager: 'test' });
    });
    afterAll(async () => {
      const { bench, disk, proxy } = this.parts;
      await bench.client.delete(Secret, { namespace: bench.namespace, name: keys });
      await bench.close();
      await proxy.stop();
      await disk.unmount();
    });
  }

  get bench(): BackupWorkbench {
    return this.parts.bench;
  }

  get parts(): Parts {
    if (!this.#parts) throw new Error('the store has not started yet');
    return this.#parts;
  }

  /** What is in the bucket. */
  get backups() {
    return this.bench.backups('c1', [readEncryptionKey('2026', key)]);
  }
}
