import { expect, it } from 'vitest';
import { watchFilterLabel } from '../../constructs/api/group.ts';
import { HostedControlPlane, Secret } from '../../constructs/api/resources.ts';
import { ourName, type MemoryCluster } from '../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../support/loop/operator-process.ts';
import { orderedCluster } from '../support/loop/scenario.ts';
import { namespace } from '../support/scope.ts';

const user = { fieldManager: 'user' };

async function moveTo(shard: string, { user: client }: MemoryCluster): Promise<void> {
  await client.mergePatch(HostedControlPlane, ourName, { metadata: { labels: { [watchFilterLabel]: shard } } }, user);
}

/** What an operator writes in three reconciles. */
async function writtenBy(operator: OperatorProcess, management: MemoryCluster): Promise<readonly string[]> {
  const { length } = management.management.writes;
  await operator.untilObserved();
  await operator.rounds(3);
  return management.management.writes.slice(length);
}

it('is reconciled by the operator of its shard only, also when it changes', async () => {
  const management = await orderedCluster();
  await moveTo('a', management);
  const a = await OperatorProcess.start(management, undefined, { watchFilter: 'a' });
  const b = await OperatorProcess.start(management, undefined, { watchFilter: 'b' });
  expect(await writtenBy(b, management)).toEqual([]);
  expect(await writtenBy(a, management)).toContain(`create Secret ${namespace}/c1-ca`);

  await moveTo('b', management);
  await management.user.delete(Secret, { namespace, name: 'c1-scheduler' });
  expect(await writtenBy(a, management)).toEqual([]);
  expect(await writtenBy(b, management)).toContain(`apply Secret ${namespace}/c1-scheduler`);
  await a.stop();
  await b.stop();
});
