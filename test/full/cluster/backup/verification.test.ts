import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BackupWorkbench, verifiedBackup } from '../../../support/backup-workbench.ts';
import { cutWhile } from '../../../support/cut-connection.ts';
import { recordFault } from '../../../support/fault-table.ts';
import { Loan } from '../../../support/lent/loan.ts';
import { until } from '../../../support/until.ts';

/** The machine may be busy, and each verification runs in a pod. */
const limitMs = 180_000;
// the deletion of the control plane is one of the tests
const loan = new Loan('plain', { forGood: true });
let bench: BackupWorkbench;

beforeAll(async () => {
  bench = await BackupWorkbench.borrow(loan);
  await bench.patch('c1', { spec: { etcd: { backup: { ...verifiedBackup, verify: { every: 1 } } } } });
  const first = await until(
    'the first backup',
    async () => (await bench.get('c1')).status?.etcd?.backup?.lastBackup,
    limitMs,
  );
  await untilVerified(first);
});
afterAll(() => bench.close());

const pods = () => bench.pods('c1', 'etcd-verify');
const untilNoPod = () => until('no pod of a verification to be left', async () => (await pods()).length === 0, limitMs);

const untilVerified = (name: string) =>
  until(
    `backup ${name} to be verified`,
    async () => (await bench.get('c1')).status?.etcd?.lastVerifiedBackup?.name === name,
    limitMs,
  );

test('an operator that is killed during a verification is followed by one that repeats it and leaves no pod', async () => {
  let cutNow = false;
  await bench.stopOperator();
  await bench.startOperator(cutWhile(() => cutNow));
  await bench.requestBackup('c1', 'before the kill');
  const left = await until('the pod of the verification', async () => (await pods())[0], limitMs);
  cutNow = true;
  await bench.stopOperator();
  const began = performance.now();
  expect((await pods()).map(({ metadata }) => metadata.uid)).toEqual([left.metadata.uid]);

  await bench.startOperator();
  await untilVerified(await bench.untilBackup('c1', 'before the kill', limitMs));
  await untilNoPod();
  await recordFault({
    fault: 'operator killed during a verification',
    observed: 'the next operator removes its pod and starts the verification again',
    recoverySeconds: (performance.now() - began) / 1000,
    dataLost: 'none',
  });
});

test('the deletion of a control plane deletes the pod of its verification', async () => {
  await bench.requestBackup('c1', 'before the deletion');
  await until('the pod of the verification', async () => (await pods()).length > 0, limitMs);
  await bench.delete('c1', limitMs);
  await untilNoPod();
  const { s3 } = bench;
  expect(await readdir(join(s3.directory, s3.settings.bucket, bench.namespace))).toEqual(['c1']);
});
