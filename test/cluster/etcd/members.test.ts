import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { healthyVoters, hasQuorum, isDataLost, leaderOf, votersOf } from '../../../reconciler/etcd/members.ts';
import { missingConnections } from '../../../reconciler/etcd/observe-members.ts';
import { until } from '../../support/until.ts';
import { EtcdProcesses } from './etcd-processes.ts';
import { NumberedWriter } from './numbered-writer.ts';
import { settle } from './settle.ts';

/** Observes while all members are healthy: on a busy machine an observation may coincide with an election. */
const untilWell = (cluster: EtcdProcesses) =>
  until('three members that are well', async () => {
    const seen = await cluster.observe();
    return hasQuorum(seen) && healthyVoters(seen).length === 3 && seen;
  });

describe('3 members of etcd', () => {
  let cluster: EtcdProcesses;
  beforeAll(async () => {
    cluster = await EtcdProcesses.start(3, 3);
    await settle(cluster, 3);
  });
  afterAll(() => cluster.stop());

  it('are observed with their leader, their versions and the ids in the annotations of their volumes', async () => {
    const observation = await untilWell(cluster);
    expect(observation).toMatchObject({ membership: 'confirmed', unknownMembers: [], alarms: [] });
    expect(observation.members.map(({ claim, registration }) => claim?.memberId === registration?.id)).toEqual([
      true,
      true,
      true,
    ]);
    expect(observation.members.map(({ status }) => status?.version)).toEqual(
      Array(3).fill(expect.stringMatching(/^3\./)),
    );
    expect(healthyVoters(observation)).toContain(leaderOf(observation));
  });

  it('transfer leadership to the requested member, and defragment one by one', async () => {
    const observation = await untilWell(cluster);
    const leader = leaderOf(observation);
    const other = votersOf(observation).find(({ name }) => name !== leader?.name);
    if (!leader || !other?.registration) throw new Error('no leader');
    await cluster.client(leader.name).moveLeader(other.registration.id);
    await until('the other one to lead', async () => leaderOf(await cluster.observe())?.name === other.name);
    await cluster.client(leader.name).defragment();
    expect(healthyVoters(await untilWell(cluster))).toHaveLength(3);
  });

  it('show which one the others reach and looks well, and reaches none of them', async () => {
    const missing = async () => missingConnections(await untilWell(cluster), cluster.clients);
    await until('all connections', async () => (await missing()).length === 0);
    await cluster.runDeaf('etcd-2');
    const found = await until('two to be missing', async () => {
      const now = await missing();
      return now.length === 2 && now;
    });
    expect(found).toEqual(['etcd-0', 'etcd-1'].map((to) => ({ from: 'etcd-2', to })));
    await cluster.kill('etcd-2');
    cluster.run('etcd-2', 'existing', cluster.all);
    await until('all connections again', async () => (await missing()).length === 0);
  });

  it('report which one does not answer, and still have a quorum', async () => {
    await cluster.kill('etcd-1');
    const observation = await until('a leader among the others', async () => {
      const seen = await cluster.observe();
      return hasQuorum(seen) && seen;
    });
    expect(observation.members[1]).toMatchObject({ status: undefined, problem: expect.stringContaining('etcd-1') });
    expect(healthyVoters(observation)).toHaveLength(2);
    await cluster.runMissing(observation);
    expect(await settle(cluster, 3)).toEqual([]);
  });

  it('replace a leader that lost its volume, and no acknowledged write is lost', async () => {
    const writer = new NumberedWriter(cluster);
    await until('some writes', () => writer.acknowledged > 50);
    const lost = leaderOf(await untilWell(cluster))?.name ?? '';
    await cluster.loseVolume(lost);
    expect(isDataLost((await cluster.observe()).members.find(({ name }) => name === lost)!)).toBe(true);
    const steps = await settle(cluster, 3);
    expect(steps).toEqual(['remove', 'discardVolume', 'addLearner', 'promote'].map((kind) => `${kind} ${lost}`));
    expect(await writer.stop()).toEqual([]);
  });
});
