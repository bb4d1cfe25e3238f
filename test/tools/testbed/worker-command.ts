import { parseArgs } from 'node:util';
import type { Instance } from './instance.ts';
import { seconds, type Report } from './progress.ts';
import { addWorker, removeWorker, workerNames } from './workers.ts';

/** The usage of the command. */
const workerUsage = 'worker add|rm CLUSTER [NAME] [--namespace NAMESPACE]';

/** `npm run testbed -- worker …`: returns the exit code. */
export async function workerCommand(instance: Instance, args: readonly string[], report: Report): Promise<number> {
  const options = { namespace: { type: 'string', short: 'n', default: 'default' } } as const;
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  const [verb, clusterName, wantedName] = positionals;
  if (clusterName === undefined || (verb !== 'add' && verb !== 'rm')) {
    console.error(`usage: npm run testbed -- ${workerUsage}`);
    return 2;
  }
  const cluster = { namespace: values.namespace, name: clusterName };
  if (verb === 'add') {
    const { name, readyAfterMs } = await addWorker(instance, cluster, report, { name: wantedName });
    report(`${name} is Ready, ${(readyAfterMs.powerOn / 1000).toFixed(2)} s after power on`);
    return 0;
  }
  const names = wantedName ? [wantedName] : await workerNames(instance, cluster);
  const start = performance.now();
  const left = (await Promise.all(names.map((name) => removeWorker(instance, name)))).flat();
  report(`${seconds(start)}  removed ${names.join(', ') || `nothing: ${clusterName} has no workers`}`);
  for (const line of left) console.error(`left behind: ${line}`);
  return left.length === 0 ? 0 : 1;
}
