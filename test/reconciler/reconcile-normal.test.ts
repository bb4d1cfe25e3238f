import { beforeAll, describe, expect, it } from 'vitest';
import { Deployment, Event } from '../../constructs/api/resources.ts';
import { OperatorProcess } from '../support/loop/operator-process.ts';
import { completeCluster, expectRest, orderedCluster } from '../support/loop/scenario.ts';
import type { MemoryCluster } from '../support/loop/memory-cluster.ts';
import type { StoredObject } from '../support/memory-objects.ts';
import { now } from '../support/scope.ts';

const hourMs = 3600_000;
const components = ['api-server', 'controller-manager', 'scheduler'];

let complete: MemoryCluster;
beforeAll(async () => {
  complete = await completeCluster();
});

/** Deployments in the order in which an operator has written them since. */
function deploymentsWritten(managementCluster: MemoryCluster): string[] {
  return managementCluster.management.writes.flatMap(
    (write) => /^apply Deployment team\/c1-(.*)$/.exec(write)?.[1] ?? [],
  );
}

describe('a change of the spec', () => {
  it('upgrades the API server, and only when that has rolled out what must not be newer than it', async () => {
    const managementCluster = complete.copy();
    const operator = await OperatorProcess.start(managementCluster);
    await managementCluster.change({ version: 'v1.36.4' });
    await operator.heard();
    await operator.pass();
    await operator.pass();
    expect(deploymentsWritten(managementCluster)).toEqual(['api-server']);
    const waiting = managementCluster.conditions
      .filter(({ reason }) => reason === 'WaitingForOtherPhases')
      .map(({ type }) => type);
    expect(waiting).toEqual(expect.arrayContaining(['ControllerManagerReady', 'SchedulerReady', 'WorkloadRBACReady']));
    await operator.untilSettled();
    expect(deploymentsWritten(managementCluster)).toEqual(components);
    expect(managementCluster.hostedControlPlane).toMatchObject({
      status: { versions: [{ version: 'v1.36.4', replicas: 2 }] },
    });
    await expectRest(managementCluster, operator);
    await operator.stop();
  });

  it('rolls the members of etcd one after the other, and leaves no pod of the template before', async () => {
    const managementCluster = complete.copy();
    const operator = await OperatorProcess.start(managementCluster);
    await managementCluster.change({ etcd: { replicas: 3, resources: { requests: { cpu: '300m' } } } });
    await operator.untilSettled();
    const deleted = managementCluster.management.writes.filter((write) => write.startsWith('delete Pod'));
    expect(deleted).toEqual(['2', '1', '0'].map((ordinal) => `delete Pod team/c1-etcd-${ordinal}`));
    await expectRest(managementCluster, operator);
    await operator.stop();
  });
});

describe('the time after which everything is to be restarted', () => {
  it('restarts what has no data when it has passed already, the API server first, and only once', async () => {
    const managementCluster = complete.copy();
    const operator = await OperatorProcess.start(managementCluster);
    await managementCluster.change({ rollout: { after: new Date(now.getTime() - hourMs).toISOString() } });
    await operator.untilSettled();
    expect(deploymentsWritten(managementCluster)).toEqual(components);
    expect(annotationsOf(managementCluster, 'c1-scheduler')).not.toEqual(annotationsOf(complete, 'c1-scheduler'));
    await expectRest(managementCluster, operator);
    await operator.stop();
  });

  it('is waited for when it is still to come, and then restarts', async () => {
    const managementCluster = complete.copy();
    const operator = await OperatorProcess.start(managementCluster);
    const after = new Date(now.getTime() + hourMs);
    await managementCluster.change({ rollout: { after: after.toISOString() } });
    await operator.untilSettled();
    expect(deploymentsWritten(managementCluster)).toEqual([]);
    expect(operator.requeueAt).toEqual(after);
    await managementCluster.clock.advance(after.getTime() - managementCluster.clock.now());
    await operator.untilSettled();
    expect(deploymentsWritten(managementCluster)).toEqual(components);
    await operator.stop();
  });
});

describe('arguments of the user that ours overrule', () => {
  const told = (managementCluster: MemoryCluster) =>
    managementCluster.objects
      .list<StoredObject>(Event, {})
      .filter((event) => event['reason'] === 'ControllerArgumentTakesPrecedence')
      .map((event) => event['note']);
  const args = (value: string) => ({ deployment: { scheduler: { args: { 'leader-elect': value } } } });
  const note =
    'kube-scheduler: args cannot set leader-elect, because the control plane depends on the value of the operator: remove it from args';

  it('are told in the first pass after a change of the spec, and not again however long it stays so', async () => {
    const managementCluster = await orderedCluster(args('false'));
    const operator = await OperatorProcess.start(managementCluster);
    await operator.pass();
    expect(told(managementCluster)).toEqual([note]);
    await operator.untilSettled();
    for (let hours = 0; hours < 3; hours++) {
      await managementCluster.clock.advance(hourMs);
      await operator.pass();
    }
    expect(told(managementCluster)).toEqual([note]);
    await managementCluster.change(args('sometimes'));
    await operator.heard();
    await operator.pass();
    expect(told(managementCluster)).toEqual([note, note]);
    await operator.stop();
  });
});

function annotationsOf(managementCluster: MemoryCluster, deployment: string): unknown {
  const { spec } = managementCluster.objects.get<StoredObject>(Deployment, deployment) as StoredObject & {
    spec: { template: { metadata: { annotations?: object } } };
  };
  return spec.template.metadata.annotations;
}
