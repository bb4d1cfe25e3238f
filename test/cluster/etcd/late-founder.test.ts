import { afterAll, expect, it } from 'vitest';
import { healthyVoters, hasQuorum } from '../../../reconciler/etcd/members.ts';
import { until } from '../../support/until.ts';
import { EtcdProcesses } from './etcd-processes.ts';

const cluster = await EtcdProcesses.start(3, 0);
afterAll(() => cluster.stop());

it('a founder that is late starts as a founder: as a member that joins it would end while the cluster has no version', async () => {
  const starting = await cluster.holdPeerPort('etcd-0');
  for (const name of ['etcd-1', 'etcd-2']) cluster.run(name, 'new', cluster.all);
  await until('a quorum of the others', async () => hasQuorum(await cluster.observe()));
  // The leader still waits for the version of the one that has accepted its connection.
  starting.close();

  cluster.run('etcd-0', 'existing', cluster.all);
  await until('the one that joins to end', async () => (await cluster.observe()).members[0]?.pod?.restarts === 1);
  cluster.run('etcd-0', 'new', cluster.all);
  const { members } = await until('three members that are well', async () => {
    const seen = await cluster.observe();
    return hasQuorum(seen) && healthyVoters(seen).length === 3 && seen;
  });
  expect(members[0]?.pod?.restarts).toBe(0);
});
