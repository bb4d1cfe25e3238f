import { expect, it } from 'vitest';
import { execute, type EtcdCall } from '../../../../reconciler/etcd/execute-step.ts';
import { planSpaceStep } from '../../../../reconciler/etcd/maintenance.ts';
import { until } from '../../../support/until.ts';
import { EtcdProcesses } from '../../../cluster/etcd/etcd-processes.ts';
import { settle } from '../../../cluster/etcd/settle.ts';

const quotaBytes = 16 * 1024 ** 2;
const valueBytes = 500_000;

it('a full etcd compacts, defragments every member, and accepts writes again', async () => {
  const cluster = await EtcdProcesses.start(3, 3, [`--quota-backend-bytes=${quotaBytes}`]);
  try {
    await settle(cluster, 3, quotaBytes);
    const keys = cluster.keys();
    const write = () => keys.put('fill').value(Buffer.alloc(valueBytes, 'x'));
    await until('the alarm', () => write().then(() => false, isFull), 60_000);

    await until('old versions to be forgotten first', async () => {
      const full = await cluster.observe();
      if (full.isCompacted) return true;
      const first = planSpaceStep(full, quotaBytes);
      if (first.kind === 'wait' || first.kind === 'settled') return false;
      expect(first.step.kind).toBe('compact');
      // A request without an answer is repeated.
      await execute(first.step as EtcdCall, full, cluster.clients).catch(() => {});
      return false;
    });
    // Followers compact on their own. Each is checked, though no client writes to it any more.
    await until('every member to report one revision', async () => {
      const { members } = await cluster.observe();
      return members.every(({ status }) => status && status.dbSizeInUseBytes < 2 * valueBytes);
    });

    const steps = await settle(cluster, 3, quotaBytes);

    expect(steps.filter((step) => step.startsWith('defragment')).sort()).toEqual(
      [0, 1, 2].map((ordinal) => `defragment etcd-${ordinal}`),
    );
    expect(steps.at(-1)).toMatch(/^disarm/);
    const { alarms, members } = await cluster.observe();
    expect(alarms).toEqual([]);
    expect(Math.max(...members.map(({ status }) => status?.dbSizeBytes ?? 0))).toBeLessThan(quotaBytes / 2);
    await write();
    keys.close();
  } finally {
    await cluster.stop();
  }
});

function isFull(error: unknown): boolean {
  return error instanceof Error && error.message.includes('database space exceeded');
}
