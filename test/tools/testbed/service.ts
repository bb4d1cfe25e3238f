import { appendFile, chmod, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { insidePath, type Machine } from './machine.ts';
import { until } from './progress.ts';
import { attempt } from './run.ts';

/** Starts a supervised service on a machine: a command that is restarted whenever it ends. Its log is {@link serviceLog}. */
export async function startService(machine: Machine, name: string, command: readonly string[]): Promise<void> {
  const script = `#!/bin/sh\nexec ${command.map(quoted).join(' ')}\n`;
  await startScript(machine, name, script);
}

/** Starts a supervised service with its own script, for one that has to wait or check before it starts. */
export async function startScript(machine: Machine, name: string, script: string): Promise<void> {
  const directory = serviceDirectory(machine, name);
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'new'), script);
  await chmod(join(directory, 'new'), 0o755);
  await rename(join(directory, 'new'), join(directory, 'run'));
  await appendFile(insidePath(machine, '/run/services/.start'), `${name}\n`);
}

/** Ends a service permanently and waits until its process is gone. */
export async function stopService(machine: Machine, name: string): Promise<void> {
  await rm(join(serviceDirectory(machine, name), 'run'), { force: true });
  await signalService(machine, name, 'TERM');
  await until(
    { what: `the end of ${name} on machine ${machine.name}`, timeoutMs: 10_000, intervalMs: 10 },
    async () => !(await signalService(machine, name, '0')),
  );
}

/** Sends a signal to the process of a service; false if it has none. After KILL the supervisor restarts it. */
export async function signalService(machine: Machine, name: string, signal: 'TERM' | 'KILL' | '0'): Promise<boolean> {
  const pid = await readFile(join(serviceDirectory(machine, name), 'pid'), 'utf8').catch(() => '');
  // the pid is one of the machine's pid namespace
  const inside = ['nsenter', '--target', String(machine.pid), '--pid'] as const;
  return pid !== '' && attempt([...inside, 'kill', `-${signal}`, pid.trim()]);
}

/** Names of the services of a machine, with their logs. */
export async function serviceNames(machine: Pick<Machine, 'directory'>): Promise<string[]> {
  const files = await readdir(join(machine.directory, 'log')).catch(() => []);
  return files.filter((file) => file.endsWith('.log')).map((file) => file.slice(0, -'.log'.length));
}

/** The log of a service, over all its starts. */
export function serviceLog(machine: Pick<Machine, 'directory'>, name: string): string {
  return join(machine.directory, 'log', `${name}.log`);
}

function serviceDirectory(machine: Machine, name: string): string {
  return insidePath(machine, join('/run/services', name));
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
