import { beforeAll, describe, expect, it } from 'vitest';
import { Event, HostedControlPlane, Machine, PersistentVolumeClaim } from '../../constructs/api/resources.ts';
import { OperatorProcess } from '../support/loop/operator-process.ts';
import { completeWorld } from '../support/loop/scenario.ts';
import { ourName, type SurroundingWorld } from '../support/loop/surrounding-world.ts';
import { clusterName, namespace } from '../support/scope.ts';

const user = { fieldManager: 'user' };

let complete: SurroundingWorld;
beforeAll(async () => {
  complete = await completeWorld();
});

/** `Kind name` of what is left in the namespace, sorted. */
function left(world: SurroundingWorld): string[] {
  return world.objects.objects
    .filter(({ kind }) => kind !== Event.kind)
    .map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    .sort();
}

/** Deletes the HostedControlPlane and lets an operator go on until it is gone. */
async function deleteIn(world: SurroundingWorld): Promise<void> {
  const operator = await OperatorProcess.start(world);
  await world.user.delete(HostedControlPlane, ourName);
  await operator.untilSettled();
  expect(operator.errors).toEqual([]);
  await operator.stop();
}

const deletions = (world: SurroundingWorld, ...kinds: string[]) =>
  world.management.writes.filter((write) => kinds.some((kind) => write.startsWith(`delete ${kind} `)));

describe('a HostedControlPlane that is deleted', () => {
  it('takes everything along that was made for it, its volumes included, and then goes itself', async () => {
    const world = complete.copy();
    await deleteIn(world);
    expect(left(world)).toEqual(['Cluster c1']);
  });

  it('leaves the volumes of etcd behind that are to be retained: they are all that a user has left', async () => {
    const world = complete.copy();
    await world.change({ etcd: { replicas: 3, volumeRetention: 'Retain' } });
    await deleteIn(world);
    const claims = [0, 1, 2].map((ordinal) => `PersistentVolumeClaim etcd-data-c1-etcd-${ordinal}`);
    expect(left(world)).toEqual(['Cluster c1', ...claims]);
    expect(deletions(world, PersistentVolumeClaim.kind)).toEqual([]);
  });

  it('gives its host names back before anything that takes time: somebody else may want them', async () => {
    const hosts = { apiHost: 'api.example.test', konnectivityHost: 'agents.example.test' };
    const world = await completeWorld({ exposure: { ingress: { ...hosts, controller: 'haproxy' } } });
    const begun = world.management.writes.length;
    await deleteIn(world);
    const kinds = world.management.writes.slice(begun).flatMap((write) => /^delete (\S+)/.exec(write)?.[1] ?? []);
    const rest = kinds.slice(kinds.lastIndexOf('PersistentVolumeClaim') + 1);
    expect(rest.filter((kind) => kind === 'Ingress')).toHaveLength(2);
    expect(rest.slice(0, 2)).toEqual(['Ingress', 'Ingress']);
    expect(rest.indexOf('Secret')).toBe(rest.length - rest.filter((kind) => kind === 'Secret').length);
  });

  it('keeps its API server while Machines need it, and asks again', async () => {
    const world = complete.copy();
    const labels = { 'cluster.x-k8s.io/cluster-name': clusterName };
    const { apiVersion, kind } = Machine;
    await world.user.create({ apiVersion, kind, metadata: { name: 'm1', namespace, labels } }, user);
    const operator = await OperatorProcess.start(world);
    await world.user.delete(HostedControlPlane, ourName);
    await operator.heard();
    await operator.pass();
    expect(operator.again?.getTime()).toBe(world.clock.now() + 5_000);
    expect(deletions(world, 'Deployment')).toEqual([]);
    expect(world.conditions.find(({ type }) => type === 'Deleting')).toMatchObject({
      status: 'True',
      reason: 'WaitingForWorkersDeletion',
    });
    await world.user.delete(Machine, { namespace, name: 'm1' });
    await operator.untilSettled();
    expect(left(world)).toEqual(['Cluster c1']);
    await operator.stop();
  });
});
