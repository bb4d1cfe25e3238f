import { beforeAll, describe, expect, it } from 'vitest';
import { Deployment, Event } from '../../constructs/api/resources.ts';
import { OperatorProcess } from '../support/loop/operator-process.ts';
import { completeCluster, expectNoWrites, orderedCluster } from '../support/loop/scenario.ts';
import type { MemoryCluster } from '../support/loop/memory-cluster.ts';
import type { StoredObject } from '../support/memory-objects.ts';
import { now } from '../support/scope.ts';

const hourMs = 3600_000;
const components = ['api-server', 'controller-manager', 'scheduler'];

let complete: MemoryCluster;
beforeAll(async () => {
  complete = await completeCluster();
});

/** Deployments in the order in which an operator wrote them. */
function deploymentsWritten(managementCluster: MemoryCluster): string[] {
  return managementCluster.management.writes.flatMap(
    (write) => /^apply Deployment team\/c1-(.*)$/.exec(write)?.[1] ?? [],
  );
}

/** Members whose pods an operator deleted, in this order. */
function membersReplaced(managementCluster: MemoryCluster): string[] {
  return managementCluster.management.writes.flatMap((write) => /^delete Pod team\/(.*)$/.exec(write)?.[1] ?? []);
}

describe('a change of the spec', () => {
  it('upgrades the API server first, and the components that must not be newer than it after its rollout', async () => {
    const managementCluster = complete.copy();
    const operator = await OperatorProcess.start(managementCluster);
    await managementCluster.change({ version: 'v1.36.4' });
    await operator.untilObserved();
    await operator.reconcile();
    await operator.reconcile();
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
    await expectNoWrites(managementCluster, operator);
    await operator.stop();
  });

  it('rolls the etcd members one after the other, and leaves no pod of the previous template', async () => {
    const managementCluster = complete.copy();
    const operator = await OperatorProcess.start(managementCluster);
    await managementCluster.change({ etcd: { replicas: 3, resources: { requests: { cpu: '300m' } } } });
    await operator.untilSettled();
    expect(membersReplaced(managementCluster)).toEqual(['c1-etcd-2', 'c1-etcd-1', 'c1-etcd-0']);
    await expectNoWrites(managementCluster, operator);
    await operator.stop();
  });
});

describe('rollout.after', () => {
  it('restarts all pods at once and only once if it is in the past, the API server first, and one etcd member at a time', async () => {
    const managementCluster = complete.copy();
    const operator = await OperatorProcess.start(managementCluster);
    await managementCluster.change({ rollout: { after: new Date(now.getTime() - hourMs).toISOString() } });
    await operator.untilSettled();
    expect(deploymentsWritten(managementCluster)).toEqual(components);
    expect(annotationsOf(managementCluster, 'c1-scheduler')).not.toEqual(annotationsOf(complete, 'c1-scheduler'));
    expect(membersReplaced(managementCluster)).toEqual(['c1-etcd-2', 'c1-etcd-1', 'c1-etcd-0']);
    await expectNoWrites(managementCluster, operator);
    await operator.stop();
  });

  it('restarts them when it is due if it is in the future', async () => {
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

describe('user arguments that the provider overrides', () => {
  const notes = (managementCluster: MemoryCluster) =>
    managementCluster.objects
      .list<StoredObject>(Event, {})
      .filter((event) => event['reason'] === 'ControllerArgumentTakesPrecedence')
      .map((event) => event['note']);
  const args = (value: string) => ({ deployment: { scheduler: { args: { 'leader-elect': value } } } });
  const note =
    'kube-scheduler: args cannot set leader-elect, because the control plane depends on the value of the operator: remove it from args';

  it('are reported by the first reconcile after a change of the spec, and not again while it stays so', async () => {
    const managementCluster = await orderedCluster(args('false'));
    const operator = await OperatorProcess.start(managementCluster);
    await operator.reconcile();
    expect(notes(managementCluster)).toEqual([note]);
    await operator.untilSettled();
    for (let hours = 0; hours < 3; hours++) {
      await managementCluster.clock.advance(hourMs);
      await operator.reconcile();
    }
    expect(notes(managementCluster)).toEqual([note]);
    await managementCluster.change(args('sometimes'));
    await operator.untilObserved();
    await operator.reconcile();
    expect(notes(managementCluster)).toEqual([note, note]);
    await operator.stop();
  });
});

function annotationsOf(managementCluster: MemoryCluster, deployment: string): unknown {
  const { spec } = managementCluster.objects.get<StoredObject>(Deployment, deployment) as StoredObject & {
    spec: { template: { metadata: { annotations?: object } } };
  };
  return spec.template.metadata.annotations;
}
