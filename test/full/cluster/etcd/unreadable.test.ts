import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasQuorum } from '../../../../reconciler/etcd/members.ts';
import { planEtcdStep } from '../../../../reconciler/etcd/plan-step.ts';
import { recordFault } from '../../../support/fault-table.ts';
import { until } from '../../../support/until.ts';
import { damageText } from '../../../cluster/etcd/damage-text.ts';
import { EtcdProcesses } from '../../../cluster/etcd/etcd-processes.ts';
import { settle } from '../../../cluster/etcd/settle.ts';

const flags = ['--feature-gates=CompactHashCheck=true,InitialCorruptCheck=true', '--snapshot-count=100'];
const goal = { replicas: 3, revision: 'new', cause: 'requested', quotaBytes: 2 ** 31 } as const;
const text = 'text that a bad disk changes';

let cluster: EtcdProcesses;
beforeAll(async () => {
  cluster = await EtcdProcesses.start(3, 3, flags);
  await settle(cluster, 3);
});
afterAll(() => cluster.stop());

describe('a member that cannot start with its data is rebuilt from the others', () => {
  const faults: readonly [fault: string, what: string, change: (directory: string) => Promise<void>][] = [
    [
      'a byte of its write-ahead log is changed',
      'its write-ahead log is damaged',
      async (directory) => {
        const logs = (await readdir(join(directory, 'wal'))).filter((name) => name.endsWith('.wal'));
        await Promise.all(logs.map((name) => damageText(join(directory, 'wal', name), text)));
      },
    ],
    ['the head of its database is overwritten', 'its database is damaged', (directory) => zeros(directory, 0, 2)],
    ['its database is overwritten but for the head', 'its database is damaged', (directory) => zeros(directory, 2)],
    [
      'a byte of its database is changed',
      'differs from the data of other members',
      (directory) => damageText(join(directory, 'snap/db'), text),
    ],
  ];
  it.each(faults)('%s', async (fault, what, change) => {
    const keys = cluster.keys();
    const key = fault.replaceAll(' ', '-');
    await keys.put(key).value(text);
    const old = (await cluster.observe()).members[1]?.registration?.id;
    await cluster.untilOnDisk('etcd-1', key);
    const since = performance.now();
    await cluster.tamper('etcd-1', change);

    const reported = await until('etcd to refuse its data again and again', async () => {
      const observation = await cluster.observe();
      const decision = planEtcdStep(observation, goal);
      if (decision.kind === 'act') return observation.members[1]?.pod?.damage?.what;
      await cluster.runMissing(observation);
      return undefined;
    });
    expect(reported).toContain(what);
    const steps = await settle(cluster, 3);

    expect(steps.filter((step) => !step.startsWith('moveLeader'))).toEqual([
      'remove etcd-1',
      'discardVolume etcd-1',
      'addLearner etcd-1',
      'promote etcd-1',
    ]);
    expect((await cluster.observe()).members[1]?.registration?.id).not.toBe(old);
    expect(await keys.get(key).string()).toBe(text);
    keys.close();
    await recordFault({
      fault: `one of three etcd members is down, and ${fault} meanwhile`,
      observed:
        'etcd refuses to start; the condition repeats its message, and the provider rebuilds the member from the others',
      recoverySeconds: (performance.now() - since) / 1_000,
      dataLost: 'none',
    });
  });
});

it('a member is not rebuilt if the data of another member is wrong', async () => {
  const keys = cluster.keys();
  await keys.put('again').value(text);
  await Promise.all(['etcd-1', 'etcd-2'].map((name) => cluster.untilOnDisk(name, 'again')));
  await cluster.damage('etcd-1', text);
  await cluster.tamper('etcd-2', async () => {});

  const decision = await until('etcd to refuse the member that is right', async () => {
    const observation = await cluster.observe();
    await cluster.runMissing(observation);
    return hasQuorum(observation) && observation.doMembersAgree === false && planEtcdStep(observation, goal);
  });
  expect(decision).toMatchObject({ kind: 'wait', message: expect.stringContaining('which member is corrupt') });
  keys.close();
});

/** Overwrites pages of a database, from the given one, by default to the end. */
async function zeros(directory: string, page: number, count?: number): Promise<void> {
  const pageBytes = 4096;
  const file = await open(join(directory, 'snap/db'), 'r+');
  try {
    const bytes = count ? count * pageBytes : (await file.stat()).size - page * pageBytes;
    await file.write(Buffer.alloc(bytes), 0, bytes, page * pageBytes);
  } finally {
    await file.close();
  }
}
