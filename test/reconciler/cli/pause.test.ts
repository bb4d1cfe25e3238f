import { beforeEach, expect, it } from 'vitest';
import { Cluster } from '../../../constructs/api/resources.ts';
import type { Command } from '../../../reconciler/cli/command.ts';
import { pause, resume } from '../../../reconciler/cli/pause.ts';
import { commandSession } from '../../support/loop/command-session.ts';
import { expectNoWrites, orderedCluster, settleBy } from '../../support/loop/scenario.ts';
import type { MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { clusterName, namespace } from '../../support/scope.ts';

let cluster: MemoryCluster;
beforeEach(async () => {
  cluster = await orderedCluster();
  await settleBy(cluster);
});

async function run(command: Command): Promise<string> {
  const { session, printed } = commandSession(cluster, command);
  await command.prepare({ positionals: [clusterName], values: {} })(session);
  return printed.join('\n');
}

const replicas = () => (cluster.hostedControlPlane['status'] as { replicas: number }).replicas;

it('hcp pause keeps the operator from a change, and hcp resume lets it make it', async () => {
  expect(await run(pause)).toMatch(/^the control plane of c1 is paused: .* before hcp resume c1 -n \S+$/);
  // kubectl shows who has set the annotation
  expect(cluster.hostedControlPlane.metadata.managedFields?.map(({ manager }) => manager)).toContain('hcp');
  await cluster.change({ replicas: 3 });
  const operator = await OperatorProcess.start(cluster);
  await operator.untilSettled();
  expect(replicas()).toBe(2);
  await expectNoWrites(cluster, operator);

  expect(await run(pause)).toBe('the control plane of c1 is paused already');
  expect(await run(resume)).toBe('the control plane of c1 is resumed: the operator reconciles it again');
  await operator.untilSettled();
  expect(replicas()).toBe(3);
  await operator.stop();
  expect(await run(resume)).toBe('the control plane of c1 is not paused');
});

it('hcp resume says that the Cluster is paused as a whole, which it does not end', async () => {
  const name = { namespace, name: clusterName };
  await cluster.user.mergePatch(Cluster, name, { spec: { paused: true } }, { fieldManager: 'user' });
  await expect(run(resume)).rejects.toThrow(/^Cluster c1 is paused as a whole, by its field spec\.paused/);
});
