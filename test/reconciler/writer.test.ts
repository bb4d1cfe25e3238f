import { describe, expect, it } from 'vitest';
import { Deployment, Machine, type Resource } from '../../constructs/api/resources.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import type { DeleteOptions, ObjectList, Selection } from '../../reconciler/kube/client-options.ts';
import { KubeError } from '../../reconciler/kube/errors.ts';
import type { KubeObject, ObjectName } from '../../reconciler/kube/object.ts';
import { createRemover } from '../../reconciler/writer.ts';

/** Lists as many objects as it is told, and notes what is asked of it. */
class WorkerLists implements Pick<KubeClient, 'delete' | 'list'> {
  readonly asked: unknown[] = [];
  readonly #counts: Readonly<Record<string, number | Error>>;

  constructor(counts: Readonly<Record<string, number | Error>>) {
    this.#counts = counts;
  }

  async list<T extends KubeObject = KubeObject>(
    { apiVersion, kind }: Resource,
    selection: Selection = {},
  ): Promise<ObjectList<T>> {
    this.asked.push({ kind, ...selection });
    const count = this.#counts[kind] ?? 0;
    if (count instanceof Error) throw count;
    const items = Array.from(
      { length: count },
      (_, index) => ({ apiVersion, kind, metadata: { name: `${index}` } }) as T,
    );
    return { items, resourceVersion: '1' };
  }

  async delete(resource: Resource, name: ObjectName, options?: DeleteOptions): Promise<void> {
    this.asked.push({ kind: resource.kind, ...name, ...options });
  }
}

const remover = (client: WorkerLists, clusterIsDeleting = false) =>
  createRemover({ client, namespace: 'team', cluster: 'c1', clusterIsDeleting });
const notInstalled = new KubeError('list machinepools: not found', { code: 404, reason: 'NotFound' });
const forbidden = new KubeError('list machines: forbidden', { code: 403, reason: 'Forbidden' });

describe('the workers that hold up a deletion', () => {
  it.each<[string, Readonly<Record<string, number | Error>>, number]>([
    ['none', {}, 0],
    ['Machines', { Machine: 2 }, 2],
    ['Machines and MachinePools', { Machine: 2, MachinePool: 1 }, 3],
    ['Machines, where MachinePools are not installed', { Machine: 2, MachinePool: notInstalled }, 2],
  ])('are counted: %s', async (_, counts, expected) => {
    const client = new WorkerLists(counts);
    expect(await remover(client).workers()).toBe(expected);
    expect(client.asked).toContainEqual({
      kind: Machine.kind,
      namespace: 'team',
      labelSelector: 'cluster.x-k8s.io/cluster-name=c1',
    });
  });

  it('are not asked for while the Cluster itself is deleted: Cluster API has seen to them', async () => {
    const client = new WorkerLists({ Machine: 2 });
    expect(await remover(client, true).workers()).toBe(0);
    expect(client.asked).toEqual([]);
  });

  it('are not taken for gone when they cannot be asked for', async () => {
    await expect(remover(new WorkerLists({ Machine: forbidden })).workers()).rejects.toBe(forbidden);
  });
});

it('deletes the very object that was seen, and does not wait for what it owns', async () => {
  const client = new WorkerLists({});
  const { apiVersion, kind } = Deployment;
  await remover(client).delete(Deployment, { apiVersion, kind, metadata: { name: 'c1-api-server', uid: 'uid-1' } });
  expect(client.asked).toEqual([
    { kind, namespace: 'team', name: 'c1-api-server', uid: 'uid-1', propagationPolicy: 'Background' },
  ]);
});
