import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Pod } from '../../../constructs/api/resources.ts';
import { managerSelector } from '../../../constructs/cluster/provider-names.ts';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import { cgroupRoots } from '../../tools/testbed/cgroups.ts';
import type { PodInState } from '../pod-states.ts';
import { providerNamespace } from '../provider.ts';

/** Memory of a container, as the kernel has counted it. */
export interface ContainerMemory {
  readonly limitBytes: number;
  readonly mostBytes: number;
}

/** The pods of the operator, as the installation runs them. */
export class WatchedOperator {
  readonly #client: KubeClient;

  constructor(client: KubeClient) {
    this.#client = client;
  }

  /** Without those that a rollout has replaced. */
  async pods(): Promise<readonly PodInState[]> {
    const labelSelector = Object.entries(managerSelector)
      .map((label) => label.join('='))
      .join(',');
    const { items } = await this.#client.list<PodInState>(Pod, { namespace: providerNamespace, labelSelector });
    return items.filter(({ metadata }) => !metadata.deletionTimestamp);
  }

  /** How often the container of each pod was started again, by the name of the pod. */
  async restarts(): Promise<Readonly<Record<string, number>>> {
    const pods = await this.pods();
    return Object.fromEntries(
      pods.map(({ metadata, status }) => [metadata.name, status?.containerStatuses?.[0]?.restartCount ?? 0]),
    );
  }

  /** The memory of the container that each pod runs now. */
  async memory(): Promise<readonly ContainerMemory[]> {
    const pods = await this.pods();
    const ids = pods.map(({ status }) => status?.containerStatuses?.[0]?.containerID?.split('/').at(-1) ?? '');
    return Promise.all(ids.map(memoryOf));
  }
}

async function memoryOf(id: string): Promise<ContainerMemory> {
  for (const directory of await cgroupsOf(id)) {
    // version 1 of cgroups, then version 2
    for (const [limit, most] of [
      ['memory.limit_in_bytes', 'memory.max_usage_in_bytes'],
      ['memory.max', 'memory.peak'],
    ] as const) {
      const [limitBytes, mostBytes] = await Promise.all([limit, most].map((file) => numberIn(join(directory, file))));
      if (limitBytes && mostBytes) return { limitBytes, mostBytes };
    }
  }
  throw new Error(`no cgroup counts the memory of container ${id}`);
}

/** The cgroups of a container in all hierarchies, as a process of it has them. */
async function cgroupsOf(id: string): Promise<string[]> {
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const text = await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '');
    if (!text.includes(id)) continue;
    const paths = new Set(text.split('\n').flatMap((line) => line.split(':').slice(2).join(':') || []));
    return (await cgroupRoots()).flatMap((root) => [...paths].map((path) => join(root, path)));
  }
  throw new Error(`no process is in container ${id}`);
}

async function numberIn(file: string): Promise<number | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text === '' ? undefined : Number(text);
}
