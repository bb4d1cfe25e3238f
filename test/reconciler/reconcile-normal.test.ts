import { beforeAll, describe, expect, it } from 'vitest';
import { Deployment, Event } from '../../constructs/api/resources.ts';
import { OperatorProcess } from '../support/loop/operator-process.ts';
import { completeWorld, expectRest, orderedWorld } from '../support/loop/scenario.ts';
import type { SurroundingWorld } from '../support/loop/surrounding-world.ts';
import type { StoredObject } from '../support/memory-world.ts';
import { now } from '../support/scope.ts';

const hourMs = 3600_000;
const components = ['api-server', 'controller-manager', 'scheduler'];

let complete: SurroundingWorld;
beforeAll(async () => {
  complete = await completeWorld();
});

/** Deployments in the order in which an operator has written them since. */
function deploymentsWritten(world: SurroundingWorld): string[] {
  return world.management.writes.flatMap((write) => /^apply Deployment team\/c1-(.*)$/.exec(write)?.[1] ?? []);
}

describe('a change of the spec', () => {
  it('upgrades the API server, and only when that has rolled out what must not be newer than it', async () => {
    const world = complete.copy();
    const operator = await OperatorProcess.start(world);
    await world.change({ version: 'v1.36.4' });
    await operator.heard();
    await operator.pass();
    await operator.pass();
    expect(deploymentsWritten(world)).toEqual(['api-server']);
    const waiting = world.conditions.filter(({ reason }) => reason === 'WaitingForOtherPhases').map(({ type }) => type);
    expect(waiting).toEqual(expect.arrayContaining(['ControllerManagerReady', 'SchedulerReady', 'WorkloadRBACReady']));
    await operator.untilSettled();
    expect(deploymentsWritten(world)).toEqual(components);
    expect(world.hostedControlPlane).toMatchObject({ status: { versions: [{ version: 'v1.36.4', replicas: 2 }] } });
    await expectRest(world, operator);
    await operator.stop();
  });

  it('rolls the members of etcd one after the other, and leaves no pod of the template before', async () => {
    const world = complete.copy();
    const operator = await OperatorProcess.start(world);
    await world.change({ etcd: { replicas: 3, resources: { requests: { cpu: '300m' } } } });
    await operator.untilSettled();
    const deleted = world.management.writes.filter((write) => write.startsWith('delete Pod'));
    expect(deleted).toEqual(['2', '1', '0'].map((ordinal) => `delete Pod team/c1-etcd-${ordinal}`));
    await expectRest(world, operator);
    await operator.stop();
  });
});

describe('the time after which everything is to be restarted', () => {
  it('restarts what has no data when it has passed already, the API server first, and only once', async () => {
    const world = complete.copy();
    const operator = await OperatorProcess.start(world);
    await world.change({ rollout: { after: new Date(now.getTime() - hourMs).toISOString() } });
    await operator.untilSettled();
    expect(deploymentsWritten(world)).toEqual(components);
    expect(annotationsOf(world, 'c1-scheduler')).not.toEqual(annotationsOf(complete, 'c1-scheduler'));
    await expectRest(world, operator);
    await operator.stop();
  });

  it('is waited for when it is still to come, and then restarts', async () => {
    const world = complete.copy();
    const operator = await OperatorProcess.start(world);
    const after = new Date(now.getTime() + hourMs);
    await world.change({ rollout: { after: after.toISOString() } });
    await operator.untilSettled();
    expect(deploymentsWritten(world)).toEqual([]);
    expect(operator.again).toEqual(after);
    await world.clock.advance(after.getTime() - world.clock.now());
    await operator.untilSettled();
    expect(deploymentsWritten(world)).toEqual(components);
    await operator.stop();
  });
});

describe('arguments of the user that ours overrule', () => {
  const told = (world: SurroundingWorld) =>
    world.objects
      .list<StoredObject>(Event, {})
      .filter((event) => event['reason'] === 'ControllerArgumentTakesPrecedence')
      .map((event) => event['note']);
  const args = (value: string) => ({ deployment: { scheduler: { args: { 'leader-elect': value } } } });
  const note = 'kube-scheduler: leader-elect cannot be set by args, the control plane depends on our value';

  it('are told in the first pass after a change of the spec, and not again however long it stays so', async () => {
    const world = await orderedWorld(args('false'));
    const operator = await OperatorProcess.start(world);
    await operator.pass();
    expect(told(world)).toEqual([note]);
    await operator.untilSettled();
    for (let hours = 0; hours < 3; hours++) {
      await world.clock.advance(hourMs);
      await operator.pass();
    }
    expect(told(world)).toEqual([note]);
    await world.change(args('sometimes'));
    await operator.heard();
    await operator.pass();
    expect(told(world)).toEqual([note, note]);
    await operator.stop();
  });
});

function annotationsOf(world: SurroundingWorld, deployment: string): unknown {
  const { spec } = world.objects.get<StoredObject>(Deployment, deployment) as StoredObject & {
    spec: { template: { metadata: { annotations?: object } } };
  };
  return spec.template.metadata.annotations;
}
