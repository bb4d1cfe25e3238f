import { describe, expect, it } from 'vitest';
import { EtcdProcesses } from '../../../cluster/etcd/etcd-processes.ts';
import { NumberedWriter } from '../../../cluster/etcd/numbered-writer.ts';
import { settle } from '../../../cluster/etcd/settle.ts';

describe('1 etcd member', () => {
  it('becomes 3, 5 and 3 again during writes, and no acknowledged write is lost', async () => {
    const cluster = await EtcdProcesses.start(5, 1);
    try {
      await settle(cluster, 1);
      const writer = new NumberedWriter(cluster);
      const joins = (ordinal: number) => [`addLearner etcd-${ordinal}`, `promote etcd-${ordinal}`];
      expect(await settle(cluster, 3)).toEqual([...joins(1), ...joins(2)]);
      expect(await settle(cluster, 5)).toEqual([...joins(3), ...joins(4)]);
      const shrinking = await settle(cluster, 3);
      expect(shrinking.filter((step) => step.startsWith('remove'))).toEqual(['remove etcd-4', 'remove etcd-3']);
      expect(await writer.stop()).toEqual([]);
      expect(writer.acknowledged).toBeGreaterThan(100);
    } finally {
      await cluster.stop();
    }
  });
});
