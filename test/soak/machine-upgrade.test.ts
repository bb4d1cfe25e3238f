import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { Machine, MachineDeployment, type Resource } from '../../constructs/api/resources.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import { type BootstrappedCluster, openBootstrappedCluster } from '../system/bootstrapped-cluster.ts';
import { joinMachineOf } from '../system/joined-machine.ts';
import { until } from '../support/until.ts';
import { kubernetesVersion, type Workbench } from '../support/workbench.ts';
import { addMinor, type FurtherMinor } from '../tools/testbed/further-minor.ts';
import { instanceFrom } from '../tools/testbed/instance.ts';
import type { Machine as TestbedMachine } from '../tools/testbed/machine.ts';
import { removeMachine } from '../tools/testbed/node-machines.ts';

const namespace = 'machine-upgrade';
const name = 'c1';
const instance = instanceFrom(process.env, inject('testbed'));
const machines = new Set<string>();
const limitMs = 300_000;
let cluster: BootstrappedCluster;
let bench: Workbench;
let older: FurtherMinor;

beforeAll(async () => {
  older = await addMinor(instance, '1.36', (line) => console.log(line));
  const { version } = older;
  cluster = await openBootstrappedCluster(instance, { kubeconfig: inject('kubeconfig'), namespace, name, version });
  ({ bench } = cluster);
});
afterAll(async () => {
  await Promise.all([...machines].map((machine) => removeMachine(instance, machine)));
  await cluster.close();
});

const MachineSet: Resource = { ...MachineDeployment, kind: 'MachineSet', plural: 'machinesets' };

interface MachineSetObject extends KubeObject {
  readonly spec: { readonly template: { readonly spec: { readonly version?: string } } };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly message?: string }[] };
}

test('Cluster API makes Machines of a new minor when its checks of the control plane pass, and not before', async () => {
  const first = await until('a Machine', async () => (await machineNames())[0], limitMs);
  await join(first, older.equip);

  const upgraded = { spec: { template: { spec: { version: kubernetesVersion } } } };
  await bench.client.mergePatch(MachineDeployment, { namespace, name }, upgraded, { fieldManager: 'user' });
  const refusal = await until('a refused preflight check', refusedChecks, limitMs);
  expect(refusal).toContain(`MachineSet version (${kubernetesVersion.slice(1)})`);
  expect(await machineNames()).toEqual([first]);

  await bench.patch(name, { spec: { version: kubernetesVersion, upgrade: { hold: '0s' } } });
  const second = await until(
    'a Machine of the new minor',
    async () => (await machineNames()).find((one) => one !== first),
    limitMs,
  );
  // A minor is reported only when every API server runs it.
  expect((await bench.get(name)).status).toMatchObject({ version: kubernetesVersion });
  await join(second);
  await until('the first Machine to be gone', async () => !(await machineNames()).includes(first), limitMs);
  await bench.untilReady(name);
});

async function join(machine: string, equip?: (machine: TestbedMachine) => Promise<void>): Promise<void> {
  machines.add(machine);
  const options = { namespace, cluster: name, name: machine, ...(equip ? { equip } : {}) };
  await joinMachineOf(instance, bench.client, options);
}

async function machineNames(): Promise<string[]> {
  const { items } = await bench.client.list(Machine, { namespace });
  return items.map(({ metadata }) => metadata.name);
}

/** What Cluster API says about the checks of the MachineSet with the new version. */
async function refusedChecks(): Promise<string | undefined> {
  const { items } = await bench.client.list<MachineSetObject>(MachineSet, { namespace });
  const upgraded = items.find(({ spec }) => spec.template.spec.version === kubernetesVersion);
  const messages = upgraded?.status?.conditions?.map(({ message = '' }) => message) ?? [];
  return messages.find((message) => /preflight/i.test(message));
}
