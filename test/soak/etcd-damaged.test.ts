import { expect, it } from 'vitest';
import { healthyVoters } from '../../reconciler/etcd/members.ts';
import { planEtcdStep } from '../../reconciler/etcd/plan-step.ts';
import { recordFault } from '../support/fault-table.ts';
import { until } from '../support/until.ts';
import { EtcdProcesses } from '../cluster/etcd/etcd-processes.ts';
import { settle } from '../cluster/etcd/settle.ts';

const goal = { replicas: 3, revision: 'new', cause: 'requested', quotaBytes: 2 ** 31 } as const;

it('a member with a corruption alarm is rebuilt from the others, and writes continue', async () => {
  const cluster = await EtcdProcesses.start(3, 3);
  try {
    await settle(cluster, 3);
    const keys = cluster.keys();
    await keys.put('before').value('kept');
    const corrupt = (await cluster.observe()).members[1]?.registration?.id ?? '';
    await keys.maintenance.alarm({ action: 'Activate', alarm: 'Corrupt', memberID: corrupt });
    await expect(keys.put('now').value('refused')).rejects.toThrow(/corrupt/);

    const steps = await settle(cluster, 3);

    // The member may lead when the alarm is raised.
    expect(steps.filter((step) => !step.startsWith('moveLeader'))).toEqual([
      'remove etcd-1',
      expect.stringMatching(/^disarm/),
      'discardVolume etcd-1',
      'addLearner etcd-1',
      'promote etcd-1',
    ]);
    await keys.put('after').value('written');
    expect(await keys.get('before').string()).toBe('kept');
    expect((await cluster.observe()).members[1]?.registration?.id).not.toBe(corrupt);
    keys.close();
  } finally {
    await cluster.stop();
  }
});

it('the next compaction detects a flipped bit in one database, and that member is rebuilt', async () => {
  const cluster = await EtcdProcesses.start(3, 3, [
    '--feature-gates=CompactHashCheck=true,InitialCorruptCheck=true',
    '--compact-hash-check-time=1s',
  ]);
  try {
    await settle(cluster, 3);
    const keys = cluster.keys();
    const written = await keys.put('damaged').value('text that a bad disk changes');
    await until('the write on every disk', () =>
      cluster.damage('etcd-1', 'text that a bad disk').then(
        () => true,
        () => false,
      ),
    );
    const damaged = performance.now();

    await cluster.client('etcd-0').compact(Number(written.header.revision));
    await until('the alarm', async () => (await cluster.observe()).alarms.length > 0);
    const found = (performance.now() - damaged) / 1_000;
    const steps = await settle(cluster, 3);

    expect(steps).toEqual(expect.arrayContaining(['remove etcd-1', 'discardVolume etcd-1', 'promote etcd-1']));
    await keys.put('after').value('written');
    expect(await cluster.keys().get('damaged').string()).toBe('text that a bad disk changes');
    keys.close();
    await recordFault({
      fault: 'a byte of the database of one of three members is changed on its disk',
      observed: `etcd finds it at the next compaction, ${found.toFixed(1)} s after it here; writes are refused until the provider removes that member, which is at once, and rebuilds it from the others`,
      recoverySeconds: (performance.now() - damaged) / 1_000,
      dataLost: 'none',
    });
  } finally {
    await cluster.stop();
  }
});

it('the operator waits for members that were all killed at once, and they recover', async () => {
  const cluster = await EtcdProcesses.start(3, 3);
  try {
    await settle(cluster, 3);
    const before = await cluster.observe();
    for (const { name } of before.members) await cluster.kill(name);
    expect(planEtcdStep(await cluster.observe(), goal)).toEqual({ kind: 'wait', message: 'no etcd member answers' });
    await cluster.runMissing(before);
    expect(await settle(cluster, 3)).toEqual([]);
  } finally {
    await cluster.stop();
  }
});

it('the operator takes no step when two of three volumes are gone', async () => {
  const cluster = await EtcdProcesses.start(3, 3);
  try {
    await settle(cluster, 3);
    await cluster.loseVolume('etcd-1');
    await cluster.loseVolume('etcd-2');
    const observation = await until('the member that is left to have no leader', async () => {
      const seen = await cluster.observe();
      const { status } = seen.members[0] ?? {};
      return status && status.leaderId === undefined && seen;
    });
    expect(observation.membership).toBe('unconfirmed');
    expect(healthyVoters(observation)).toEqual([]);
    expect(planEtcdStep(observation, goal)).toMatchObject({ kind: 'wait', message: expect.stringContaining('quorum') });
  } finally {
    await cluster.stop();
  }
});
