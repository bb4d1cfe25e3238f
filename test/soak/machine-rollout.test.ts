import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { Machine, MachineDeployment, Secret } from '../../constructs/api/resources.ts';
import { splitCertificates } from '../../reconciler/pki/pem.ts';
import { type SecretObject, valueOf } from '../../reconciler/pki/secret.ts';
import type { MachineDeploymentObject } from '../../reconciler/certificates/workers/machines.ts';
import { until } from '../support/until.ts';
import { instanceFrom } from '../tools/testbed/instance.ts';
import { removeMachine } from '../tools/testbed/node-machines.ts';
import { joinMachineOf } from '../system/joined-machine.ts';
import { type BootstrappedCluster, openBootstrappedCluster } from '../system/bootstrapped-cluster.ts';
import type { Workbench } from '../support/workbench.ts';

const namespace = 'machine-rollout';
const name = 'c1';
const instance = instanceFrom(process.env, inject('testbed'));
const machines = new Set<string>();
/** Pods are replaced several times, and clients have eight minutes to reload their certificates. */
const stepMs = 15 * 60_000;
let cluster: BootstrappedCluster;
let bench: Workbench;

beforeAll(async () => {
  cluster = await openBootstrappedCluster(instance, { kubeconfig: inject('kubeconfig'), namespace, name });
  ({ bench } = cluster);
});
afterAll(async () => {
  await Promise.all([...machines].map((machine) => removeMachine(instance, machine)));
  await cluster.close();
});

test(
  'Machines of a MachineDeployment are replaced once in a rotation of the cluster CA, and not before the new CA signs',
  { timeout: 3 * stepMs },
  async () => {
    const first = await until('a Machine', async () => (await machineNames())[0], 60_000);
    await join(first);
    const old = await certificateAuthority();
    expect((await deployment()).spec.rollout?.after).toBeUndefined();

    const begun = new Date();
    await bench.patch(name, { spec: { certificates: { rotation: { clusterCA: 'first' } } } });
    const moving = await bench.untilCondition(name, 'CARotationReady', { reason: 'MovingWorkers' }, stepMs);
    expect(moving.message).toContain(`MachineDeployments ${name} replace Machines ${first}`);
    expect(splitCertificates(await certificateAuthority())).toHaveLength(2);

    const second = await until(
      'a second Machine',
      async () => (await machineNames()).find((one) => one !== first),
      60_000,
    );
    const { rollout } = (await deployment()).spec;
    expect(Date.parse(rollout?.after ?? '')).toBeGreaterThanOrEqual(Math.floor(begun.getTime() / 1000) * 1000);
    await join(second);
    await until('the first Machine to be gone', async () => !(await machineNames()).includes(first), stepMs);
    await removeMachine(instance, first);
    machines.delete(first);

    await bench.untilCondition(name, 'CARotationReady', { status: 'True' }, stepMs);
    const signer = splitCertificates(await certificateAuthority());
    expect(signer).toHaveLength(1);
    expect(splitCertificates(old)).not.toContain(signer[0]);
    expect(await machineNames()).toEqual([second]);
    expect((await deployment()).spec.rollout).toEqual(rollout);
  },
);

async function join(machine: string): Promise<void> {
  machines.add(machine);
  await joinMachineOf(instance, bench.client, { namespace, cluster: name, name: machine });
}

async function machineNames(): Promise<string[]> {
  const { items } = await bench.client.list(Machine, { namespace });
  return items.map(({ metadata }) => metadata.name);
}

function deployment(): Promise<MachineDeploymentObject> {
  return bench.client.get<MachineDeploymentObject>(MachineDeployment, { namespace, name });
}

async function certificateAuthority(): Promise<string> {
  return valueOf(await bench.client.get<SecretObject>(Secret, { namespace, name: `${name}-ca` }), 'tls.crt') ?? '';
}
