import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { Pod } from '../../../constructs/api/resources.ts';
import type { MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { completeCluster } from '../../support/loop/scenario.ts';

let complete: MemoryCluster;
let cluster: MemoryCluster;
let operator: OperatorProcess;

beforeAll(async () => {
  complete = await completeCluster();
});
beforeEach(async () => {
  cluster = complete.copy();
  operator = await OperatorProcess.start(cluster);
});
afterEach(() => operator.stop());

const members = () => [0, 1, 2].map((ordinal) => cluster.objects.get(Pod, `c1-etcd-${ordinal}`)?.metadata.uid);
const withProxy = (proxy: string) => ({ etcd: { env: [{ name: 'HTTPS_PROXY', value: proxy }] } });
const condition = () => {
  const { status, reason, message } = cluster.conditions.find(({ type }) => type === 'EtcdClusterReady')!;
  return `${status} ${reason}: ${message}`;
};
/** Which members have another pod. */
const replaced = (before: readonly unknown[]) =>
  members().flatMap((uid, ordinal) => (uid === before[ordinal] ? [] : [ordinal]));

it('a rollout stops at a member that the others reach and that reaches none of them, with a condition that names both', async () => {
  const before = members();
  cluster.etcd.deaf = [2];
  await cluster.change(withProxy('http://192.0.2.1:3128'));
  const words = /^False WaitingForMembers: etcd: c1-etcd-2 does not reach c1-etcd-0, .*etcd\.env/;
  await operator.reconcileUntil('the words', () => words.test(condition()));
  await operator.rounds(5);
  expect(replaced(before)).toEqual([2]);

  cluster.etcd.deaf = [];
  await cluster.clock.advance(30_000);
  await operator.reconcileUntil('the end', () => condition().startsWith('True'));
  expect(replaced(before)).toEqual([0, 1, 2]);
});

it('a corrected template begins with the member that reaches none', async () => {
  cluster.etcd.deaf = [1];
  await cluster.change(withProxy('http://192.0.2.1:3128'));
  await operator.reconcileUntil('the words', () => condition().includes('c1-etcd-1 does not reach'));
  const before = members();
  await cluster.change(withProxy('http://192.0.2.2:3128'));
  await operator.reconcileUntil('another pod', () => replaced(before).length > 0);
  await operator.rounds(5);
  expect(replaced(before)).toEqual([1]);
});
