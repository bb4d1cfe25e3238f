import { spawn } from 'node:child_process';
import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Instance } from './instance.ts';
import { killSaved, savedProcess, saveProcess } from './process-record.ts';
import { until } from './progress.ts';

/** Log of the process that acts as the cloud. */
export function cloudLog(instance: Instance): string {
  return join(instance.directory, 'log/cloud.log');
}

/** Starts the process that provides volumes and addresses; it continues when this one ends. */
export async function startCloud(instance: Instance): Promise<void> {
  const log = cloudLog(instance);
  await mkdir(dirname(log), { recursive: true });
  const output = await open(log, 'a');
  const script = join(import.meta.dirname, 'cloud.ts');
  const child = spawn(process.execPath, [script, instance.name], {
    detached: true,
    stdio: ['ignore', output.fd, output.fd],
  });
  await output.close();
  child.unref();
  if (child.pid === undefined) throw new Error(`${process.execPath} cannot be started`);
  await saveProcess(pidFile(instance), child.pid);
}

/** Whether that process still runs. */
export async function isCloudRunning(instance: Instance): Promise<boolean> {
  return (await savedProcess(pidFile(instance))) !== undefined;
}

/** Ends that process, if it runs. */
export async function stopCloud(instance: Instance): Promise<void> {
  await killSaved(pidFile(instance));
}

/** Ends when it watches the cluster. */
export async function untilCloudLooksAfter(instance: Instance): Promise<void> {
  const log = cloudLog(instance);
  await until({ what: 'storage and load balancers', timeoutMs: 90_000, log }, async () => {
    if (!(await isCloudRunning(instance))) throw new Error('the process ended');
    const file = await open(log);
    try {
      return (await file.readFile('utf8')).includes(`watching ${instance.name}`);
    } finally {
      await file.close();
    }
  });
}

function pidFile(instance: Instance): string {
  return join(instance.directory, 'cloud.pid');
}
