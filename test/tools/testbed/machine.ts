import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { binDirectory, type Instance } from './instance.ts';
import { savedProcess } from './process-record.ts';
import { run, type RunOptions } from './run.ts';

/** A node: a set of namespaces over an overlay of the host's root. It is up in a third of a second and ends with its pid 1. */
export interface Machine {
  readonly instance: Instance;
  readonly name: string;
  /** Last byte of its address. */
  readonly number: number;
  /** Its pid 1, as the host numbers it. */
  readonly pid: number;
  /** Its files on the host; services log to `log/<service>.log` there. */
  readonly directory: string;
}

/** A running machine; undefined if it does not run. */
export async function findMachine(instance: Instance, name: string): Promise<Machine | undefined> {
  const directory = machineDirectory(instance, name);
  const init = await savedProcess(join(directory, 'init.pid'));
  const number = Number(await readFile(join(directory, 'number'), 'utf8').catch(() => '0'));
  return init && number > 0 ? { instance, name, number, pid: init.pid, directory } : undefined;
}

/** Names of all machines that have a directory, running or not. */
export async function machineNames(instance: Instance): Promise<string[]> {
  return readdir(join(instance.directory, 'machines')).catch(() => []);
}

/** Runs a command inside a machine, as root there, and gives its standard output. */
export async function inMachine(
  machine: Machine,
  command: readonly [string, ...string[]],
  options: Pick<RunOptions, 'input' | 'inputFile'> = {},
): Promise<string> {
  const namespaces = ['--mount', '--uts', '--ipc', '--net', '--pid'];
  const env = { PATH: searchPath(machine.instance), HOME: '/root' };
  return run(['nsenter', '--target', String(machine.pid), ...namespaces, '--', ...command], { ...options, env });
}

/** The host's view of a path inside a machine. */
export function insidePath(machine: Machine, path: string): string {
  return join(`/proc/${machine.pid}/root`, path);
}

/** Where the host keeps a machine's files, running or not. */
export function machineDirectory(instance: Instance, name: string): string {
  return join(instance.directory, 'machines', name);
}

/** The file that `kubeadm join` writes on a worker. */
export function joinLog({ directory }: Pick<Machine, 'directory'>): string {
  return join(directory, 'join.log');
}

/** The search path of programs in a machine: the testbed's own first. */
export function searchPath(instance: Instance): string {
  return `${binDirectory(instance)}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`;
}
