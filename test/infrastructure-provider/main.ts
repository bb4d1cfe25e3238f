/** `main.ts TESTBED CLOUD`: an infrastructure provider for Cluster API, whose machines are those of the testbed, until it is ended. */
import { setTimeout } from 'node:timers/promises';
import { messageOf } from '../../reconciler/kube/error-message.ts';
import { clientOf } from '../tools/testbed/access.ts';
import { instanceFrom } from '../tools/testbed/instance.ts';
import { cloudNamed } from './clouds.ts';
import { HostMachines } from './host-machines.ts';
import { InfrastructureProvider } from './provider.ts';

const passEveryMs = 500;
const instance = instanceFrom({ ...process.env, HCP_TESTBED: process.argv[2] });
const report = (line: string) => console.log(`${new Date().toISOString()} ${line}`);
const cloud = cloudNamed(process.argv[3] ?? '');
const machines = new HostMachines(instance, cloud, report);
const provider = new InfrastructureProvider(await clientOf(instance), cloud, machines, report);

for (;;) {
  await provider.pass().catch((error: unknown) => report(`a pass failed: ${messageOf(error)}`));
  await setTimeout(passEveryMs);
}
