import { beforeAll, describe, expect, it } from 'vitest';
import { conditionTypes } from '../../constructs/api/conditions.ts';
import { mergeFacts, mergeReports, phaseVerdicts, runPhases } from '../../reconciler/graph.ts';
import { observe } from '../../reconciler/observation.ts';
import { phases } from '../../reconciler/reconcile.ts';
import { observedStatus, summarize } from '../../reconciler/status.ts';
import { bringUp, pass } from '../support/bring-up.ts';
import { loadBalancerAddress } from '../support/management-controllers.ts';
import { MemoryWorld } from '../support/memory-world.ts';
import { scopeOf } from '../support/scope.ts';

const initialized = { status: { initialization: { controlPlaneInitialized: true } } };

function position(world: MemoryWorld, write: string): number {
  const found = world.writes.indexOf(write);
  if (found < 0) throw new Error(`${write} is not among ${world.writes.join(', ')}`);
  return found;
}

const complete = new MemoryWorld();
beforeAll(async () => {
  await bringUp(complete);
  await pass(complete, initialized);
});

describe('a control plane in a world where everything else works', () => {
  it('comes up, and then nothing is written any more', async () => {
    expect(complete.published).toEqual({ host: loadBalancerAddress, port: 6443 });
    const world = complete.copy();
    await pass(world, initialized);
    expect(world.writes).toEqual([]);
  });

  it('comes up in the order that is fast and safe', async () => {
    const world = new MemoryWorld();
    await bringUp(world);
    const order = [
      'create Secret c1-ca',
      'apply Secret c1-etcd-server',
      'apply StatefulSet c1-etcd',
      'apply Deployment c1-api-server',
      'apply Deployment c1-controller-manager',
    ].map((write) => position(world, write));
    expect(order).toEqual([...order].sort((a, b) => a - b));
    // etcd starts while the load balancer is being made.
    expect(position(world, 'apply StatefulSet c1-etcd')).toBeLessThan(
      position(world, `publish ${loadBalancerAddress}:6443`),
    );
  });

  it('converges when the process dies at every single write, and makes no authority twice', async () => {
    const world = new MemoryWorld();
    for (let life = 0; life < 100; life++) {
      world.dieAfter(1);
      const before = world.writes.length;
      await pass(world);
      if (world.writes.length === before) break;
    }
    world.restart();
    await bringUp(world);
    expect(world.names).toEqual(complete.names);
    const created = world.writes.filter((write) => write.startsWith('create '));
    expect(created).toEqual([...new Set(created)]);
    // As many lives as there are writes take a busy machine a while.
  }, 60_000);

  it('upgrades the API server before what must not be newer than it', async () => {
    const world = complete.copy();
    const changes = { ...initialized, spec: { version: 'v1.36.4' } };
    const first = await runPhases(phases, scopeOf(world, changes));
    expect(world.writes).toEqual(['apply Deployment c1-api-server']);
    const waiting = first.filter(({ verdict }) => verdict.reason === 'WaitingForOtherPhases');
    expect(waiting.map(({ phase }) => phase.condition)).toEqual([
      'ControllerManagerReady',
      'SchedulerReady',
      'APIServerReachable',
      'WorkloadRBACReady',
      'WorkloadClusterInfoReady',
      'WorkloadKubeadmConfigReady',
      'WorkloadKubeletConfigReady',
      'WorkloadKubeletCertificatesReady',
      'WorkloadKubeProxyReady',
      'WorkloadCoreDNSReady',
      'WorkloadKonnectivityReady',
      'WorkloadInClusterAccessReady',
      'WorkloadSetupReady',
    ]);
    await bringUp(world, changes);
    const components = ['api-server', 'controller-manager', 'scheduler'];
    expect(world.writes).toEqual(components.map((name) => `apply Deployment c1-${name}`));
  });

  it('restarts on request what has no data, the API server first', async () => {
    const world = complete.copy();
    await bringUp(world, { ...initialized, facts: { rolloutAfter: '2026-11-21T12:00:00Z' } });
    const components = ['api-server', 'controller-manager', 'scheduler'];
    expect(world.writes).toEqual(components.map((name) => `apply Deployment c1-${name}`));
  });

  it('reports that it works once it does', async () => {
    const world = complete.copy();
    const results = await pass(world);
    const { cluster } = scopeOf(world);
    const observation = observe(
      cluster,
      undefined,
      world,
      phaseVerdicts(results),
      mergeFacts(results.map(({ facts }) => facts)),
      mergeReports(results),
      undefined,
    );
    expect(observedStatus(observation)).toMatchObject({
      initialization: { controlPlaneInitialized: true },
      versions: [{ version: 'v1.36.3', replicas: 2 }],
      replicas: 2,
      readyReplicas: 2,
      availableReplicas: 2,
      upToDateReplicas: 2,
      etcdVolumeSize: '4Gi',
      legacyIP: loadBalancerAddress,
      inClusterAccess: 'LoadBalancer',
    });
    const isTrue = Object.entries(summarize(observation, true)).filter(([, { status }]) => status === 'True');
    const negative = ['RollingOut', 'ScalingUp', 'ScalingDown', 'Deleting', 'Paused'];
    expect(isTrue.map(([type]) => type).sort()).toEqual(
      conditionTypes.filter((type) => !negative.includes(type)).sort(),
    );
  });
});
