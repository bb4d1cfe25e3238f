import type { SecretObject } from '../../../imports/kubernetes.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import { Deployment, Pod, Secret } from '../../../constructs/api/resources.ts';
import { splitCertificates } from '../../../reconciler/pki/pem.ts';
import { valueOf } from '../../../reconciler/pki/secret.ts';
import { type MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { completeCluster, expectNoWrites, orderedCluster, smallestSpec } from '../../support/loop/scenario.ts';
import { findNodes, loseNode } from '../../support/management-controllers.ts';
import type { StoredObject } from '../../support/memory-objects.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const yearMs = 365 * 24 * hourMs;

const jumps = [
  ['a year ahead', yearMs],
  ['a year behind', -yearMs],
  ['an hour ahead', hourMs],
  ['an hour behind', -hourMs],
] as const;

let complete: MemoryCluster;
beforeAll(async () => {
  complete = await completeCluster(smallestSpec);
}, 60_000);

const conditionIn = ({ conditions }: MemoryCluster, type: string) =>
  conditions.find((condition) => condition.type === type);
const reasonOf = (management: MemoryCluster, type: string) => {
  const found = conditionIn(management, type);
  return `${found?.status} ${found?.reason}`;
};

/** Every certificate, every pod, and every template of pods. */
function stateOf({ objects }: MemoryCluster) {
  return {
    certificates: objects
      .list<SecretObject>(Secret, {})
      .flatMap((secret) => splitCertificates(valueOf(secret, 'tls.crt') ?? '')),
    pods: objects.list(Pod, {}).map(({ metadata }) => metadata.uid),
    templates: objects.list<StoredObject>(Deployment, {}).map((deployment) => deployment['spec']),
  };
}

/** Reconciles of a process in which the clock is wrong: a minute apart, as its condition asks. */
async function whileWrong(operator: OperatorProcess, management: MemoryCluster): Promise<void> {
  for (let round = 0; round < 3; round++) {
    await operator.rounds(1);
    await management.clock.advance(minuteMs);
  }
}

/** Corrects the clock, and lets the operator go on until nothing is left to do. */
async function corrected(operator: OperatorProcess, management: MemoryCluster, byMs: number): Promise<void> {
  management.clock.setTime(-byMs);
  await operator.untilSettled();
  expect(reasonOf(management, 'ClocksAgree')).toBe('True ReconcileSucceeded');
  expect(reasonOf(management, 'Ready')).toBe('True Ready');
}

describe.each(jumps)('a clock that is %s', (_, byMs) => {
  it.each([
    ['in a process that has known the right time', false],
    ['from the start of a process on', true],
  ])('%s issues and replaces nothing, and names itself', async (_process, isNew) => {
    const management = complete.copy();
    // A pod that was restarted on request does not start again because its time seems to be in the future.
    const after = new Date(management.clock.elapsed() - minuteMs).toISOString();
    await management.change({ rollout: { after } });
    const first = await OperatorProcess.start(management);
    await first.untilSettled();
    const before = stateOf(management);
    management.clock.setTime(byMs);
    const operator = isNew ? await OperatorProcess.start(management) : first;
    await whileWrong(operator, management);
    expect(stateOf(management)).toEqual(before);
    expect(reasonOf(management, 'ClocksAgree')).toBe('False ClockWrong');
    expect(conditionIn(management, 'ClocksAgree')?.message).toMatch(
      byMs > 0 ? /is (365 days|60 minutes) ahead of/ : /is (365 days|60 minutes) behind/,
    );
    expect(reasonOf(management, 'Ready')).toBe('True Ready');

    await corrected(operator, management, byMs);
    expect(stateOf(management)).toEqual(before);
    await expectNoWrites(management, operator);
    await operator.stop();
  });

  it('does what else is asked, and issues what is missing once it is right', async () => {
    const management = complete.copy();
    management.clock.setTime(byMs);
    await management.change({
      apiServer: { certSANs: ['further.example.org'] },
      deployment: { scheduler: { args: { v: '3' } } },
    });
    const operator = await OperatorProcess.start(management);
    const { certificates } = stateOf(management);
    await whileWrong(operator, management);
    expect(stateOf(management).certificates).toEqual(certificates);
    expect(JSON.stringify(management.objects.get(Deployment, 'c1-scheduler'))).toContain('--v=3');

    await corrected(operator, management, byMs);
    expect(stateOf(management).certificates).not.toEqual(certificates);
    await operator.stop();
  });

  it('begins no control plane until it is right', async () => {
    const management = await orderedCluster(smallestSpec);
    management.clock.setTime(byMs);
    const operator = await OperatorProcess.start(management);
    await whileWrong(operator, management);
    expect(stateOf(management).certificates).toEqual([]);
    expect(reasonOf(management, 'CACertificatesReady')).toBe('False ClockWrong');
    await corrected(operator, management, byMs);
    await operator.stop();
  });

  it('hides no node that is lost while a certificate is missing', async () => {
    const management = complete.copy();
    management.clock.setTime(byMs);
    const operator = await OperatorProcess.start(management);
    await operator.rounds(1);
    const { objects } = management;
    objects.remove(objects.get(Secret, 'c1-scheduler')!);
    for (const name of ['c1-etcd-0', 'c1-scheduler-0', 'c1-api-server-0'])
      loseNode(objects, objects.get<StoredObject>(Pod, name)!);
    await whileWrong(operator, management);
    expect(conditionIn(management, 'CertificatesReady')?.message).toContain('until the clocks agree');
    const both = (pod: string) =>
      new RegExp(`^waiting for CertificatesReady.*; pod ${pod}: is on node node-1, which does not`);
    expect(conditionIn(management, 'EtcdClusterReady')?.message).toContain('pod c1-etcd-0: is on node node-1, which');
    expect(conditionIn(management, 'SchedulerReady')?.message).toMatch(both('c1-scheduler-0'));
    expect(conditionIn(management, 'APIServerDeploymentsReady')?.message).toMatch(both('c1-api-server-0'));

    findNodes(objects);
    await corrected(operator, management, byMs);
    expect(objects.get(Secret, 'c1-scheduler')).toBeDefined();
    await operator.stop();
  });
});
