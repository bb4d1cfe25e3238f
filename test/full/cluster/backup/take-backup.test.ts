import { afterAll, beforeAll, expect, it } from 'vitest';
import { leaderOf } from '../../../../reconciler/etcd/members.ts';
import { BackedUpEtcd } from '../../../cluster/backup/backed-up-etcd.ts';
import { until } from '../../../support/until.ts';

let backedUp: BackedUpEtcd;
beforeAll(async () => {
  backedUp = await BackedUpEtcd.start();
});
afterAll(() => backedUp?.stop());

it('a backup is not taken from an etcd without a leader, and the error names the member that does not answer', async () => {
  const { etcd } = backedUp;
  await Promise.all([etcd.kill('etcd-0'), etcd.kill('etcd-1')]);
  await until('the loss of the leader', async () => leaderOf(await etcd.observe()) === undefined);
  await expect(backedUp.attempt('leaderless')).rejects.toThrow(/no etcd member can provide a snapshot: .*etcd-0/);
  expect((await backedUp.backupsOf('leaderless').list()).backups).toEqual([]);
});
