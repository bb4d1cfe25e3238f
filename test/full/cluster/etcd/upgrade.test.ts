import { expect, it } from 'vitest';
import { type EtcdObservation, healthyVoters, leaderOf } from '../../../../reconciler/etcd/members.ts';
import type { EtcdStep } from '../../../../reconciler/etcd/steps.ts';
import { until } from '../../../support/until.ts';
import { findFurtherBinaries } from '../../../tools/testbed/binaries.ts';
import { furtherEtcd } from '../../../tools/testbed/families.ts';
import { instanceFrom } from '../../../tools/testbed/instance.ts';
import { EtcdProcesses, testbedEtcd } from '../../../cluster/etcd/etcd-processes.ts';
import { NumberedWriter } from '../../../cluster/etcd/numbered-writer.ts';
import { settle } from '../../../cluster/etcd/settle.ts';

const further = await findFurtherBinaries(furtherEtcd, instanceFrom(process.env).cache, () => {});

const present = await testbedEtcd();

// Not 3.5 to 3.7 in one step: 3.7 cannot read raft log entries of 3.5, which are compacted after 10,000 entries.
it.each([
  ['3.5', '3.6', further['etcd-3.5'], further['etcd-3.6']],
  ['3.6', '3.7', further['etcd-3.6'], present],
])(
  'etcd is upgraded from %s to %s member by member, the leader last, and no acknowledged write is lost',
  async (_, minor, from, to) => {
    const cluster = await EtcdProcesses.start(3, 3, [], from);
    try {
      await settle(cluster, 3);
      const writer = new NumberedWriter(cluster);
      await until('some writes', () => writer.acknowledged > 50, 60_000);
      cluster.useBinary(to ?? '');
      const order: string[] = [];
      const noteOrder = (step: EtcdStep, observation: EtcdObservation) => {
        if (step.kind === 'moveLeader') order.push('leadership moves');
        if (step.kind === 'replacePod')
          order.push(step.member === leaderOf(observation)?.name ? 'the leader' : 'a follower');
      };
      const steps = await settle(cluster, 3, undefined, noteOrder);

      // On a busy machine etcd may elect another leader at any moment: the leader is read at each step.
      expect(order.join(', ')).toMatch(/^a follower, a follower, (leadership moves, )*a follower$/);
      const replaced = steps.filter((step) => step.startsWith('replacePod'));
      expect(replaced.toSorted()).toEqual(['etcd-0', 'etcd-1', 'etcd-2'].map((name) => `replacePod ${name}`));
      expect(healthyVoters(await cluster.observe()).map(({ status }) => status?.version)).toEqual(
        Array(3).fill(expect.stringContaining(`${minor}.`)),
      );
      const hasArrived = async () => (await cluster.observe()).clusterVersion === `${minor}.0`;
      await until('the members to agree on it', hasArrived, 60_000);
      expect(await writer.stop()).toEqual([]);
    } finally {
      await cluster.stop();
    }
  },
);
