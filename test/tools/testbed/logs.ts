import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { cloudLog } from './background.ts';
import { testbedLog, type Instance } from './instance.ts';
import { kubectl } from './kubectl.ts';
import { joinLog, machineDirectory, machineNames } from './machine.ts';
import { serviceLog, serviceNames } from './service.ts';

const tailBytes = 64 * 1024;

/** Prints the end of a log by its name, or all names. Returns the exit code. */
export async function printLog(instance: Instance, name: string | undefined): Promise<number> {
  const files = await logFiles(instance);
  const pods = await podNames(instance);
  const file = name === undefined ? undefined : files.get(name);
  const pod = pods.find((candidate) => candidate === name || candidate.endsWith(`/${name}`));
  if (file) {
    await printEnd(file);
  } else if (pod) {
    const [namespace = '', podName = ''] = pod.split('/');
    const flags = ['--all-containers', '--prefix', '--tail=300'];
    process.stdout.write(await kubectl(instance, ['--namespace', namespace, 'logs', podName, ...flags]));
  } else {
    if (name !== undefined) console.error(`no log is called ${name}; there are`);
    console.log([...files.keys(), ...pods].join('\n'));
    return name === undefined ? 0 : 1;
  }
  return 0;
}

/** A service of the management machine by its name, one of another machine as `<machine>/<service>`. */
async function logFiles(instance: Instance): Promise<Map<string, string>> {
  const files = new Map([
    ['testbed', testbedLog(instance)],
    ['cloud', cloudLog(instance)],
  ]);
  for (const machine of await machineNames(instance)) {
    const directory = machineDirectory(instance, machine);
    for (const service of await serviceNames({ directory })) {
      files.set(machine === 'm' ? service : `${machine}/${service}`, serviceLog({ directory }, service));
    }
    files.set(machine === 'm' ? 'machine' : `${machine}/machine`, join(directory, 'init.log'));
    if (machine !== 'm') files.set(`${machine}/join`, joinLog({ directory }));
  }
  return files;
}

async function podNames(instance: Instance): Promise<string[]> {
  const format = '{range .items[*]}{.metadata.namespace}/{.metadata.name}{"\\n"}{end}';
  const flags = ['--all-namespaces', '--request-timeout=3s', '--output', `jsonpath=${format}`];
  const answer = await kubectl(instance, ['get', 'pods', ...flags]).catch(() => '');
  return answer.split('\n').filter(Boolean);
}

async function printEnd(file: string): Promise<void> {
  const { size } = await stat(file);
  await pipeline(createReadStream(file, { start: Math.max(0, size - tailBytes) }), process.stdout, { end: false });
}
