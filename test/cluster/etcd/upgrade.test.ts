import { expect, it } from 'vitest';
import { healthyVoters, leaderOf } from '../../../reconciler/etcd/members.ts';
import { until } from '../../support/until.ts';
import { findFurtherBinaries } from '../../testbed/binaries.ts';
import { furtherEtcd } from '../../testbed/families.ts';
import { instanceFrom } from '../../testbed/instance.ts';
import { EtcdProcesses, testbedEtcd } from './etcd-processes.ts';
import { NumberedWriter } from './numbered-writer.ts';
import { settle } from './settle.ts';

const further = await findFurtherBinaries(furtherEtcd, instanceFrom(process.env).cache, () => {});

it('etcd rises from 3.5 to 3.6 and 3.7 member by member, the leader last, and no acknowledged write is lost', async () => {
  const cluster = await EtcdProcesses.start(3, 3, [], further['etcd-3.5']);
  try {
    await settle(cluster, 3);
    const writer = new NumberedWriter(cluster);
    for (const [minor, binary] of [
      ['3.6', await testbedEtcd()],
      ['3.7', further['etcd-3.7'] ?? ''],
    ] as const) {
      const leader = leaderOf(await cluster.observe())?.name ?? '';
      cluster.useBinary(binary);
      const steps = await settle(cluster, 3);

      expect(steps.filter((step) => step.startsWith('ReplacePod')).at(-1)).toBe(`ReplacePod ${leader}`);
      expect(steps.filter((step) => step.startsWith('ReplacePod'))).toHaveLength(3);
      expect(steps.filter((step) => step.startsWith('MoveLeader'))).toHaveLength(1);
      const observation = await cluster.observe();
      expect(healthyVoters(observation).map(({ status }) => status?.version)).toEqual(
        Array(3).fill(expect.stringContaining(`${minor}.`)),
      );
      // Until then no member of the next minor would start.
      await until('the members to agree on it', async () => (await cluster.observe()).clusterVersion === `${minor}.0`);
      const before = writer.acknowledged;
      await until('more writes', () => writer.acknowledged > before + 50);
    }
    expect(await writer.stop()).toEqual([]);
  } finally {
    await cluster.stop();
  }
}, 300_000);
