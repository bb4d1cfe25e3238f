import { access, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cgroupRoots } from './cgroups.ts';
import { lanAddress, podCidr, serviceCidr, type Instance } from './instance.ts';
import { run } from './run.ts';

/** File of an instance with the state of the host before it. */
export const baselineName = 'host-before';

/** Settings of the host that a kubelet or a machine would change if it were not prevented. */
const sysctls = [
  'kernel/keys/root_maxbytes',
  'kernel/keys/root_maxkeys',
  'kernel/panic',
  'kernel/panic_on_oops',
  'net/ipv4/ip_forward',
  'vm/overcommit_memory',
  'vm/panic_on_oom',
];

/** Records the state of the host before anything is started, for a later comparison. */
export async function saveBaseline(instance: Instance): Promise<void> {
  await writeFile(baselinePath(instance), (await hostState()).join('\n'));
}

/** The recorded state; undefined if there is none. It is in the instance's directory: read it before that is removed. */
export async function savedBaseline(instance: Instance): Promise<string[] | undefined> {
  return readFile(baselinePath(instance), 'utf8').then(
    (text) => text.split('\n'),
    () => undefined,
  );
}

/** Everything that an instance that is down has left on the host, one item per line. */
export async function leftovers(instance: Instance, before: readonly string[] | undefined): Promise<string[]> {
  const found = await Promise.all([
    directories(instance),
    links(instance),
    routes(instance),
    mounts(instance),
    cgroups(instance),
    processes(instance),
    before ? hostState().then((now) => now.filter((line) => !before.includes(line))) : [],
  ]);
  return found.flat();
}

async function directories({ directory }: Instance): Promise<string[]> {
  return access(directory).then(
    () => [`directory ${directory}`],
    () => [],
  );
}

async function links({ name }: Instance): Promise<string[]> {
  const all = await readdir('/sys/class/net');
  return all.filter((link) => link.startsWith(`${name}-`)).map((link) => `link ${link}`);
}

async function routes(instance: Instance): Promise<string[]> {
  // of each range the bytes that belong to the instance
  const ranges = [lanAddress(instance, 0), serviceCidr(instance), podCidr(instance, 0)];
  const prefixes = ranges.map((range, index) =>
    range
      .split('.')
      .slice(0, index === 0 ? 3 : 2)
      .join('.'),
  );
  const lines = (await run(['ip', 'route', 'show', 'table', 'all'])).split('\n');
  const own = lines.filter((line) => prefixes.some((prefix) => ` ${line}`.includes(` ${prefix}.`)));
  return own.map((line) => `route ${line.trim()}`);
}

async function mounts({ directory }: Instance): Promise<string[]> {
  const lines = (await readFile('/proc/mounts', 'utf8')).split('\n');
  return lines.filter((line) => line.includes(directory)).map((line) => `mount ${line}`);
}

async function cgroups({ name }: Instance): Promise<string[]> {
  const found: string[] = [];
  for (const root of await cgroupRoots()) {
    const entries = await readdir(root, { withFileTypes: true });
    for (const entry of entries) {
      if (entry.isDirectory() && entry.name.startsWith(`${name}-`)) found.push(`cgroup ${join(root, entry.name)}`);
    }
  }
  return found;
}

async function processes(instance: Instance): Promise<string[]> {
  return (await strayProcesses(instance)).map(({ pid, command }) => `process ${pid} ${command}`);
}

/** Processes of machines have the instance's directory mounted, that of the cloud has its name. */
export async function strayProcesses({ name, directory }: Instance): Promise<{ pid: number; command: string }[]> {
  const found: { pid: number; command: string }[] = [];
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    const [mounted, commandLine] = await Promise.all(
      ['mounts', 'cmdline'].map((file) => readFile(join('/proc', pid, file), 'utf8').catch(() => '')),
    );
    const words = (commandLine ?? '').split('\0').filter(Boolean);
    const isCloud = words.at(-2)?.endsWith('/testbed/cloud.ts') === true && words.at(-1) === name;
    if (isCloud || mounted?.includes(`${directory}/`)) {
      found.push({ pid: Number(pid), command: words.join(' ').slice(0, 100) });
    }
  }
  return found;
}

/** Settings, and packet filter rules that look like those of a Kubernetes node, one per line. */
async function hostState(): Promise<string[]> {
  const settings = await Promise.all(sysctls.map(async (name) => `sysctl ${name} = ${await sysctl(name)}`));
  const ruleset = (await run(['nft', 'list', 'ruleset']))
    .split('\n')
    .filter((line) => /KUBE-|CNI-|kube-proxy/.test(line));
  return [...settings, ...ruleset.map((line) => `rule ${line.trim()}`)];
}

async function sysctl(name: string): Promise<string> {
  return readFile(join('/proc/sys', name), 'utf8').then(
    (value) => value.trim(),
    () => 'absent',
  );
}

function baselinePath(instance: Instance): string {
  return join(instance.directory, baselineName);
}
