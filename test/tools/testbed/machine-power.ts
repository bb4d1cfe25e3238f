import { spawn } from 'node:child_process';
import { mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeCgroup, removeCgroup } from './cgroups.ts';
import { servesKubelets } from './container-runtime.ts';
import { cgroupName, type Instance } from './instance.ts';
import { writeMachineFiles } from './machine-files.ts';
import { goEnvironment } from './go-environment.ts';
import { insidePath, machineDirectory, searchPath, type Machine } from './machine.ts';
import { plugIn, unplug } from './network.ts';
import { killSaved, saveProcess } from './process-record.ts';
import { until } from './progress.ts';
import { startService } from './service.ts';

/** The settings of a new machine. */
export interface MachineOptions {
  readonly name: string;
  /** Last byte of its address, which no other machine has: see `managementNumber` and `firstWorkerNumber`. */
  readonly number: number;
  readonly pauseImage: string;
  /** Fills containerd's root directory before it starts. Default: it starts without images. */
  readonly fillImageStore?: (containerdRoot: string) => Promise<void>;
}

/** Creates a machine with a running containerd. The machine must not exist. */
export async function powerOn(instance: Instance, options: MachineOptions): Promise<Machine> {
  const { name, number, pauseImage } = options;
  const directory = machineDirectory(instance, name);
  for (const part of ['root', 'overlay', 'log', 'etc', 'data/containerd', 'data/kubelet', 'data/pods']) {
    await mkdir(join(directory, part), { recursive: true });
  }
  await writeFile(join(directory, 'number'), String(number));
  await Promise.all([
    options.fillImageStore?.(join(directory, 'data/containerd')),
    writeMachineFiles({ instance, name, number, directory, pauseImage }),
    makeCgroup(cgroupName(instance, name)),
  ]);
  const pid = await startInit(instance, name, directory);
  const machine: Machine = { instance, name, number, pid, directory };
  const log = join(directory, 'init.log');
  await Promise.all([
    plugIn(instance, number, pid),
    until({ what: `the root file system of machine ${name}`, timeoutMs: 60_000, intervalMs: 5, log }, () =>
      exists(insidePath(machine, '/run/services/.ready')),
    ),
  ]);
  await startService(machine, 'containerd', ['containerd', '--config', '/etc/containerd/config.toml']);
  const socket = insidePath(machine, '/run/containerd/containerd.sock');
  const expectation = { what: `containerd on machine ${name}`, timeoutMs: 60_000, intervalMs: 20 };
  await until({ ...expectation, log: join(directory, 'log/containerd.log') }, () => servesKubelets(socket));
  return machine;
}

/** Ends a machine, running or incomplete, and removes every trace of it. Returns what could not be removed. */
export async function powerOff(instance: Instance, name: string): Promise<string[]> {
  const directory = machineDirectory(instance, name);
  const number = Number(await readFile(join(directory, 'number'), 'utf8').catch(() => '0'));
  // when the parent dies pid 1 dies (--kill-child), and with that every process, mount and network rule of the machine
  await killSaved(join(directory, 'init.pid'));
  await killSaved(join(directory, 'parent.pid'));
  if (number > 0) await unplug(instance, number);
  const left = await removeCgroup(cgroupName(instance, name));
  await rm(directory, { recursive: true, force: true });
  return left;
}

/** pid 1 is the child of `unshare`, and in a pid namespace that only children enter. */
async function startInit(instance: Instance, name: string, directory: string): Promise<number> {
  const namespaces = ['--mount', '--uts', '--ipc', '--net', '--pid'];
  const script = join(import.meta.dirname, 'machine-init.sh');
  const log = await open(join(directory, 'init.log'), 'a');
  const parent = spawn('unshare', [...namespaces, '--fork', '--kill-child', '--propagation', 'private', script], {
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
    env: {
      ...goEnvironment,
      PATH: searchPath(instance),
      NAME: name,
      DIRECTORY: directory,
      BINDS: visibleDirectories(instance),
    },
  });
  await log.close();
  parent.unref();
  const { pid } = parent;
  if (pid === undefined) throw new Error('unshare cannot be started: is the package util-linux installed?');
  await saveProcess(join(directory, 'parent.pid'), pid);
  const expectation = { what: `the first process of machine ${name}`, timeoutMs: 60_000, intervalMs: 2 };
  const children = await until({ ...expectation, log: join(directory, 'init.log') }, async () => {
    const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return text.trim() || undefined;
  });
  const init = Number(children.split(' ')[0]);
  await saveProcess(join(directory, 'init.pid'), init);
  return init;
}

/** The overlay only contains the host's root file system: these may be on others. */
function visibleDirectories(instance: Instance): string {
  return [instance.directory, instance.cache, process.env['HCP_TESTBED_BIN'] ?? ''].filter(Boolean).join(' ');
}

async function exists(path: string): Promise<boolean> {
  return open(path).then(
    async (file) => {
      await file.close();
      return true;
    },
    () => false,
  );
}
