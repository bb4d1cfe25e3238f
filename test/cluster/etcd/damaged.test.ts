import { expect, it } from 'vitest';
import { healthyVoters } from '../../../reconciler/etcd/members.ts';
import { nextEtcdStep } from '../../../reconciler/etcd/next-step.ts';
import { until } from '../../support/until.ts';
import { EtcdProcesses } from './etcd-processes.ts';
import { settle } from './settle.ts';

const goal = { replicas: 3, revision: 'new', cause: 'Asked', quotaBytes: 2 ** 31 } as const;

it('a member that etcd calls corrupt is built anew from the others, and writes go on', async () => {
  const cluster = await EtcdProcesses.start(3, 3);
  try {
    await settle(cluster, 3);
    const keys = cluster.keys();
    await keys.put('before').value('kept');
    const corrupt = (await cluster.observe()).members[1]?.registration?.id ?? '';
    await keys.maintenance.alarm({ action: 'Activate', alarm: 'Corrupt', memberID: corrupt });
    await expect(keys.put('now').value('refused')).rejects.toThrow(/corrupt/);

    const steps = await settle(cluster, 3);

    // The member may lead when the alarm comes.
    expect(steps.filter((step) => !step.startsWith('MoveLeader'))).toEqual([
      'Remove etcd-1',
      expect.stringMatching(/^Disarm/),
      'DiscardVolume etcd-1',
      'AddLearner etcd-1',
      'Promote etcd-1',
    ]);
    await keys.put('after').value('written');
    expect(await keys.get('before').string()).toBe('kept');
    expect((await cluster.observe()).members[1]?.registration?.id).not.toBe(corrupt);
    keys.close();
  } finally {
    await cluster.stop();
  }
});

it('members that were all killed at once are left alone and come back by themselves', async () => {
  const cluster = await EtcdProcesses.start(3, 3);
  try {
    await settle(cluster, 3);
    const before = await cluster.observe();
    for (const { name } of before.members) await cluster.kill(name);
    expect(nextEtcdStep(await cluster.observe(), goal)).toEqual({ kind: 'Wait', message: 'no etcd member answers' });
    cluster.runMissing(before);
    expect(await settle(cluster, 3)).toEqual([]);
  } finally {
    await cluster.stop();
  }
});

it('nothing is guessed when two of three volumes are gone: no step is taken', async () => {
  const cluster = await EtcdProcesses.start(3, 3);
  try {
    await settle(cluster, 3);
    await cluster.loseVolume('etcd-1');
    await cluster.loseVolume('etcd-2');
    const observation = await until('the member that is left to have no leader', async () => {
      const seen = await cluster.observe();
      return seen.members[0]?.status?.leaderId === undefined && seen;
    });
    expect(observation.membership).toBe('Unconfirmed');
    expect(healthyVoters(observation)).toEqual([]);
    expect(nextEtcdStep(observation, goal)).toMatchObject({ kind: 'Wait', message: expect.stringContaining('quorum') });
  } finally {
    await cluster.stop();
  }
});
