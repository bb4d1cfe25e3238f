import { readdir, readFile } from 'node:fs/promises';

/** Ids of the processes on this host that run `command` in containers of a pod. */
export async function processesOf(podUid: string, command: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const [name, cgroup] = await Promise.all([textOf(`/proc/${pid}/comm`), textOf(`/proc/${pid}/cgroup`)]);
      // systemd writes the dashes of group names as underscores.
      return name.trim() === command && cgroup.replaceAll('_', '-').includes(podUid) ? [Number(pid)] : [];
    }),
  );
  return found.flat();
}

/** Empty for a process that has ended meanwhile. */
function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}
