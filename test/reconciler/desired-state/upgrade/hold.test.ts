import { beforeAll, describe, expect, it } from 'vitest';
import { ConfigMap, DaemonSet, Deployment, StatefulSet } from '../../../../constructs/api/resources.ts';
import {
  everyCrash,
  completeCluster,
  expectSameAfter,
  settleBy,
  settleForGood,
} from '../../../support/loop/scenario.ts';
import type { MemoryCluster } from '../../../support/loop/memory-cluster.ts';
import { NamespaceObjects } from '../../../support/memory-cluster/controlled-objects.ts';

const long = { version: 'v1.37.1', upgrade: { hold: '1h' } };
const components = ['api-server', 'controller-manager', 'scheduler'];

let complete: MemoryCluster;
let held: MemoryCluster;
beforeAll(async () => {
  complete = await completeCluster();
  held = await after(complete, long);
});

/** A control plane after this change, when the operator has nothing left to do soon. */
async function after(start: MemoryCluster, change: object): Promise<MemoryCluster> {
  const management = start.copy();
  await management.change(change);
  await settleBy(management);
  return management;
}

/** The version of the binaries of every component, and the minor that they emulate if they do. */
function running({ objects }: MemoryCluster): string[] {
  return components.map((name) => {
    const text = JSON.stringify(objects.get(Deployment, `c1-${name}`));
    const [, version] = /kube-[a-z-]+:(v[0-9.]+)"/.exec(text) ?? [];
    const [, minor] = /--emulated-version=([0-9.]+)"/.exec(text) ?? [];
    return minor === undefined ? `${version}` : `${version} as ${minor}`;
  });
}

function conditionOf({ conditions }: MemoryCluster, type: string): string {
  const found = conditions.find((condition) => condition.type === type);
  return `${found?.status} ${found?.reason}: ${found?.message}`;
}

const status = ({ hostedControlPlane }: MemoryCluster) => hostedControlPlane['status'] as Record<string, unknown>;

describe('while the binaries of the new minor emulate the one before', () => {
  it('all of them run, and everything else keeps the version before', () => {
    expect(running(held)).toEqual(['v1.37.1 as 1.36', 'v1.37.1 as 1.36', 'v1.37.1 as 1.36']);
    const addOns = new NamespaceObjects(held.hosted, 'kube-system');
    expect(JSON.stringify(addOns.get(DaemonSet, 'kube-proxy'))).toContain('kube-proxy:v1.36.3');
    expect(JSON.stringify(addOns.get(ConfigMap, 'kubeadm-config'))).toContain('v1.36.3');
    expect(JSON.stringify(held.objects.get(StatefulSet, 'c1-etcd'))).toContain('etcd:3.6.8-0');
  });

  it('the status has the version before, which Cluster API waits for', () => {
    expect(status(held)).toMatchObject({
      version: 'v1.36.3',
      versions: [{ version: 'v1.36.3', replicas: 2 }],
      upToDateReplicas: 0,
      emulation: { binaries: 'v1.37.1' },
    });
    expect(conditionOf(held, 'Available')).toMatch(/^True/);
  });

  it('conditions say until when, how to end it, and how to go back', () => {
    const { since } = status(held)['emulation'] as { since: string };
    const end = new Date(Date.parse(since) + 3_600_000).toISOString();
    const told = `False HoldingUpgrade: API servers and controllers run v1.37.1 and emulate v1.36.3 until ${end}: to go back, set spec.version to v1.36.3; to end the hold now, set spec.upgrade.hold to 0s`;
    expect(conditionOf(held, 'UpgradeHoldEnded')).toContain(told);
    expect(conditionOf(held, 'Ready')).toContain(told);
  });

  it('nothing is written, and another operator does not begin the hold again', async () => {
    const management = held.copy();
    const before = status(management)['emulation'];
    await management.clock.advance(10 * 60_000);
    await settleForGood(management);
    expect(status(management)['emulation']).toEqual(before);
  });

  it('a change of the spec is made with them, and the hold goes on', async () => {
    const management = await after(held, { replicas: 3, deployment: { scheduler: { args: { v: '3' } } } });
    expect(running(management)).toEqual(running(held));
    expect(management.objects.get(Deployment, 'c1-api-server')).toMatchObject({ spec: { replicas: 3 } });
    expect(status(management)['emulation']).toEqual(status(held)['emulation']);
  });
});

describe('the hold ends', () => {
  it.each([
    ['when its time has passed', { ...long, upgrade: { hold: '2m' } }],
    ['at once if its time is set to 0s', { upgrade: { hold: '0s' } }],
  ])('%s: then the new minor runs completely, and etcd follows', async (_, change) => {
    const management = await after(held, change);
    expect(running(management)).toEqual(['v1.37.1', 'v1.37.1', 'v1.37.1']);
    expect(status(management)).toMatchObject({ version: 'v1.37.1', upToDateReplicas: 2 });
    expect(status(management)).not.toHaveProperty('emulation');
    expect(JSON.stringify(management.objects.get(StatefulSet, 'c1-etcd'))).toContain('etcd:3.7.0-0');
    expect(conditionOf(management, 'Ready')).toMatch(/^True/);
    expect(conditionOf(management, 'UpgradeHoldEnded')).toMatch(/^True/);
  });
});

describe('the way back', () => {
  it('leads to the binaries before, and forward again with a whole hold', async () => {
    const back = await after(held, { version: 'v1.36.3' });
    expect(running(back)).toEqual(['v1.36.3', 'v1.36.3', 'v1.36.3']);
    expect(status(back)).toMatchObject({ version: 'v1.36.3', upToDateReplicas: 2 });
    expect(status(back)).not.toHaveProperty('emulation');
    expect(conditionOf(back, 'Ready')).toMatch(/^True/);

    await back.clock.advance(30 * 60_000);
    const again = await after(back, { version: 'v1.37.1' });
    expect(running(again)).toEqual(running(held));
    const { since } = status(again)['emulation'] as { since: string };
    expect(Date.parse(since)).toBeGreaterThan(back.clock.now() - 1);
  });

  it('is the same for an operator that crashes at any write', async () => {
    const management = held.copy();
    await management.change({ version: 'v1.36.3' });
    const crashes = await everyCrash(management);
    expect(crashes.length).toBeGreaterThan(3);
    await expectSameAfter(crashes, management);
  });
});
