import { beforeAll, describe, expect, it } from 'vitest';
import { Deployment, Event } from '../../../constructs/api/resources.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { completeCluster, expectNoWrites, orderedCluster } from '../../support/loop/scenario.ts';
import type { MemoryCluster } from '../../support/loop/memory-cluster.ts';
import type { StoredObject } from '../../support/memory-objects.ts';
import { now } from '../../support/scope.ts';

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

/** The upgrade of a control plane whose backups cannot be stored, because the Secret of the bucket does not exist. */
async function awaitingBackup(): Promise<{ management: MemoryCluster; operator: OperatorProcess }> {
  const backup = { schedule: '@daily', secret: { name: 'missing' } };
  const management = await orderedCluster({ version: 'v1.35.6', etcd: { replicas: 3, backup } });
  const operator = await OperatorProcess.start(management);
  await operator.rounds(12);
  expect(management.hostedControlPlane).toMatchObject({ status: { version: 'v1.35.6', upToDateReplicas: 2 } });
  await management.change({ version: 'v1.36.3' });
  await operator.rounds(4);
  return { management, operator };
}

/** The version in the images of a component's pods, and the number of replicas. */
function renderedIn(management: MemoryCluster, deployment: string): string {
  const { spec } = management.objects.get<StoredObject>(Deployment, deployment) as StoredObject & {
    spec: { replicas: number; template: { spec: { containers: { image: string }[] } } };
  };
  return `${spec.replicas} of ${/v1\.\d+\.\d+/.exec(spec.template.spec.containers[0]?.image ?? '')?.[0]}`;
}

describe('an upgrade that waits for its backup', () => {
  it('is told by RollingOut, the counters and the condition of the API servers', async () => {
    const { management, operator } = await awaitingBackup();
    const found = Object.fromEntries(management.conditions.map(({ type, reason }) => [type, reason]));
    expect(found).toMatchObject({ RollingOut: 'RollingOut', APIServerDeploymentsReady: 'WaitingForBackup' });
    expect(found).toMatchObject({ ControllerManagerReady: 'ReconcileSucceeded', Available: 'Available' });
    expect(management.hostedControlPlane).toMatchObject({
      status: { version: 'v1.35.6', replicas: 2, upToDateReplicas: 0 },
    });
    await operator.stop();
  });

  it('holds back the version only: every other change is made', async () => {
    const { management, operator } = await awaitingBackup();
    const resources = { requests: { cpu: '300m' } };
    await management.change({ replicas: 3, deployment: { scheduler: { resources } } });
    await operator.rounds(6);
    const rendered = ['c1-api-server', 'c1-controller-manager', 'c1-scheduler'].map((name) =>
      renderedIn(management, name),
    );
    expect(rendered).toEqual(['3 of v1.35.6', '1 of v1.35.6', '1 of v1.35.6']);
    expect(JSON.stringify(management.objects.get(Deployment, 'c1-scheduler'))).toContain('300m');

    await management.change({
      etcd: { backup: { beforeUpgrade: false, verify: { disabled: true } } },
      upgrade: { hold: '0s' },
    });
    await operator.rounds(12);
    expect(renderedIn(management, 'c1-api-server')).toBe('3 of v1.36.3');
    expect(renderedIn(management, 'c1-scheduler')).toBe('1 of v1.36.3');
    expect(management.hostedControlPlane).toMatchObject({ status: { version: 'v1.36.3', upToDateReplicas: 3 } });
    await operator.stop();
  });
});

/** Members whose pods an operator deleted, in this order. */
function membersReplaced(managementCluster: MemoryCluster): string[] {
  return managementCluster.management.writes.flatMap(
    (write) => /^delete Pod team\/(c1-etcd-\d+)$/.exec(write)?.[1] ?? [],
  );
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
  const supported = (managementCluster: MemoryCluster) =>
    managementCluster.conditions.find(({ type }) => type === 'SpecSupported');
  const args = (value: string) => ({ deployment: { scheduler: { args: { 'leader-elect': value } } } });
  const note =
    'kube-scheduler: args cannot set leader-elect, because the control plane depends on the value of the operator: remove it from args';

  it('are reported by the first reconcile after a change of the spec, and by a condition while it stays so', async () => {
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
    expect(supported(managementCluster)).toMatchObject({ status: 'False', reason: 'Overruled', message: note });
    await managementCluster.change(args('true'));
    await operator.untilObserved();
    await operator.reconcile();
    expect(supported(managementCluster)).toMatchObject({ status: 'True', reason: 'Supported' });
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
