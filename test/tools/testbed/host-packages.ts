import { constants } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import { withLock } from './lock.ts';
import { attempt, run } from './run.ts';
import { step, type Report } from './progress.ts';

/** A file of the host that the testbed uses, and the Debian package that contains it. */
const needed: Readonly<Record<string, string>> = {
  '/bin/busybox': 'busybox-static',
  '/sbin/modprobe': 'kmod',
  '/usr/bin/ldd': 'libc-bin',
  '/usr/bin/nsenter': 'util-linux',
  '/usr/bin/unshare': 'util-linux',
  '/usr/sbin/conntrack': 'conntrack',
  '/usr/sbin/ip': 'iproute2',
  '/usr/sbin/nft': 'nftables',
  '/usr/sbin/runc': 'runc',
  '/usr/sbin/xtables-nft-multi': 'iptables',
};

/** Installs missing Debian packages. Throws with the command to run if that is not possible. */
export async function installHostPackages(report: Report): Promise<void> {
  if (process.getuid?.() !== 0) throw new Error('the testbed makes namespaces, mounts and cgroups: run it as root');
  const missing = await missingPackages();
  if (missing.length === 0) return;
  await step(report, `Debian packages ${missing.join(' ')}`, () => aptGet('install', ...missing));
}

/** Two testbeds that start at the same time on a new host would both install, and apt-get refuses the second. */
const aptLock = '/run/lock/hosted-control-plane-testbed-apt';
/** Waits for other users of apt-get, such as unattended upgrades. */
const waitForOthers = ['--option', 'DPkg::Lock::Timeout=600'] as const;

/** Runs apt-get without questions, one at a time. Throws with the command to run if there is none. */
export async function aptGet(...args: readonly string[]): Promise<void> {
  const command = ['apt-get', '--yes', '--no-install-recommends', ...waitForOthers, ...args] as const;
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '');
  if (!/^ID(_LIKE)?=.*(debian|ubuntu)/m.test(release)) {
    throw new Error(`this host is neither Debian nor Ubuntu: give it what there would come from ${command.join(' ')}`);
  }
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await withLock(
    aptLock,
    () => {},
    async () => {
      // a new host has no package lists: only then are they fetched
      if (await attempt(command, { env })) return;
      await run(['apt-get', 'update'], { env });
      await run(command, { env });
    },
  );
}

async function missingPackages(): Promise<string[]> {
  const packages = new Set<string>();
  for (const [file, name] of Object.entries(needed)) {
    await access(file, constants.X_OK).catch(() => packages.add(name));
  }
  return [...packages].sort();
}
