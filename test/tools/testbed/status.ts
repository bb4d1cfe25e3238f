import { cloudLog, isCloudRunning } from './background.ts';
import { checkHealth } from './health.ts';
import { apiServerUrl, kubeconfigPath, lanAddress, type Instance } from './instance.ts';
import { findMachine, machineDirectory, machineNames } from './machine.ts';
import { serviceNames, signalService } from './service.ts';

/** A summary for a user: whether it works, its addresses, what runs. */
export async function describeStatus(instance: Instance): Promise<{ text: string; isUp: boolean }> {
  const health = await checkHealth(instance);
  const reason = health.state === 'broken' ? ` (${health.reason}): \`up\` starts it again` : '';
  const lines = [`testbed ${instance.name} is ${health.state}${reason}`];
  if (health.state !== 'down') {
    lines.push(`  API         ${apiServerUrl(instance)}`, `  kubeconfig  ${kubeconfigPath(instance)}`);
    lines.push(`  files       ${instance.directory}`);
    for (const name of await machineNames(instance)) lines.push(...(await describeMachine(instance, name)));
    const cloud = (await isCloudRunning(instance)) ? 'runs' : `does not run, see ${cloudLog(instance)}`;
    lines.push(`  storage and load balancers: ${cloud}`);
  }
  return { text: `${lines.join('\n')}\n`, isUp: health.state === 'up' };
}

async function describeMachine(instance: Instance, name: string): Promise<string[]> {
  const machine = await findMachine(instance, name);
  if (!machine) return [`  machine ${name}: does not run, logs in ${machineDirectory(instance, name)}`];
  const services: string[] = [];
  for (const service of await serviceNames(machine)) {
    services.push((await signalService(machine, service, '0')) ? service : `${service} (not running)`);
  }
  return [`  machine ${name} ${lanAddress(instance, machine.number)}: ${services.join(', ')}`];
}
