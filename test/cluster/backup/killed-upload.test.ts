import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ClusterBackups } from '../../../reconciler/backup/cluster-backups.ts';
import { ObjectStore } from '../../../reconciler/backup/store/object-store.ts';
import { recordFault } from '../../support/fault-table.ts';
import { startS3, type S3 } from '../../support/s3.ts';
import { snapshotFacts } from '../../support/snapshot-facts.ts';
import { until } from '../../support/until.ts';

let s3: S3;
let store: ObjectStore;
beforeAll(async () => {
  s3 = await startS3();
  store = new ObjectStore(s3.settings);
});
afterAll(async () => {
  store.close();
  await s3.stop();
});

const node = join(import.meta.dirname, '../../../node_modules/.bin/node');

async function* small(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('the next one');
}

it('an upload whose process is killed is never listed as a backup, and is deleted once no process can still be uploading it', async () => {
  const child = spawn(node, [join(import.meta.dirname, 'uploading-process.ts')], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  child.stdin.end(JSON.stringify(s3.settings));
  await until('some parts to be stored', async () => (await s3.unfinishedUploads()).length > 0, 60_000);
  child.kill('SIGKILL');
  await once(child, 'exit');

  const backups = new ClusterBackups(store, { namespace: 'team', cluster: 'killed' });
  expect((await backups.list()).backups).toEqual([]);
  const began = performance.now();
  const name = { time: Date.now(), revision: 2 };
  await backups.write({ name, facts: snapshotFacts, snapshot: small() });
  const { unfinished } = await backups.list();
  await backups.deleteUnfinished(unfinished, Date.parse('2020-01-01T00:00:00Z'));
  expect(await s3.unfinishedUploads()).toHaveLength(1);
  await backups.deleteUnfinished(unfinished, Date.now() + 1_000);
  expect(await s3.unfinishedUploads()).toEqual([]);
  expect((await backups.list()).backups).toEqual([{ ...name, isVerified: false }]);
  await recordFault({
    fault: 'kill -9 of the operator during the upload of a backup',
    observed: 'a partial backup is never listed; the next process takes one, and removes the parts when they are old',
    recoverySeconds: (performance.now() - began) / 1000,
    dataLost: 'none',
  });
});
