import { describe, expect, it } from 'vitest';
import {
  CertificateRequest,
  ConfigMap,
  createdOnce,
  CustomResourceDefinition,
  definitionName,
  Deployment,
  Machine,
  type Resource,
  versionOf,
} from '../../../../constructs/api/resources.ts';
import type { KubeClient } from '../../../../reconciler/kube/client.ts';
import type { DeleteOptions, ObjectList, Selection } from '../../../../reconciler/kube/client-options.ts';
import { KubeError } from '../../../../reconciler/kube/errors.ts';
import type { KubeObject, ObjectName } from '../../../../reconciler/kube/object.ts';
import { RequestCaches } from '../../../../reconciler/engine/tasks/request-cache.ts';
import { ApplySet } from '../../../../reconciler/kube/apply-set.ts';
import { ManagementCluster } from '../../../../reconciler/clusters/management/cache.ts';
import { createDeletionWriter, createWriter } from '../../../../reconciler/clusters/management/writer.ts';
import type { Writer } from '../../../../reconciler/clusters/management/view.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { MemoryApiServer } from '../../../support/memory-cluster/api-server.ts';
import { MemoryClient } from '../../../support/memory-cluster/client.ts';
import { installRights, operatorUser } from '../../../support/loop/shipped-rights.ts';
import { administrator } from '../../../support/memory-cluster/users.ts';

/** Lists as many objects as the test sets, and records the requests. */
class WorkerLists implements Pick<KubeClient, 'delete' | 'list' | 'mergePatch'> {
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

  async mergePatch(): Promise<never> {
    throw new Error('workers are never changed');
  }

  async create(): Promise<never> {
    throw new Error('workers are never created');
  }

  async get(): Promise<never> {
    throw new Error('no worker is asked for');
  }

  async delete(resource: Resource, name: ObjectName, options?: DeleteOptions): Promise<void> {
    this.asked.push({ kind: resource.kind, ...name, ...options });
  }
}

const deletionWriter = (client: WorkerLists, clusterIsGone = false) =>
  createDeletionWriter({ client, namespace: 'team', cluster: 'c1', clusterIsGone });
const notInstalled = new KubeError('list machinepools: not found', { code: 404, reason: 'NotFound' });
const forbidden = new KubeError('list machines: forbidden', { code: 403, reason: 'Forbidden' });

describe('the workers that block a deletion', () => {
  it.each<[string, Readonly<Record<string, number | Error>>, number]>([
    ['none', {}, 0],
    ['Machines', { Machine: 2 }, 2],
    ['workers of all kinds', { Machine: 2, MachineSet: 1, MachineDeployment: 1, MachinePool: 1 }, 5],
    ['a MachineDeployment without Machines', { MachineDeployment: 1 }, 1],
    ['Machines, if MachinePools are not installed', { Machine: 2, MachinePool: notInstalled }, 2],
  ])('are counted: %s', async (_, counts, expected) => {
    const client = new WorkerLists(counts);
    expect(await deletionWriter(client).workers()).toBe(expected);
    expect(client.asked).toContainEqual({
      kind: Machine.kind,
      namespace: 'team',
      labelSelector: 'cluster.x-k8s.io/cluster-name=c1',
    });
  });

  it('are not counted once the Cluster is gone, without which Cluster API deletes none', async () => {
    const client = new WorkerLists({ Machine: 2 });
    expect(await deletionWriter(client, true).workers()).toBe(0);
    expect(client.asked).toEqual([]);
  });

  it('are not taken for gone if the list fails', async () => {
    await expect(deletionWriter(new WorkerLists({ Machine: forbidden })).workers()).rejects.toBe(forbidden);
  });
});

it('deletes exactly the observed object, and does not wait for its dependents', async () => {
  const client = new WorkerLists({});
  const { apiVersion, kind } = Deployment;
  await deletionWriter(client).delete(Deployment, {
    apiVersion,
    kind,
    metadata: { name: 'c1-api-server', uid: 'uid-1' },
  });
  expect(client.asked).toEqual([
    { kind, namespace: 'team', name: 'c1-api-server', uid: 'uid-1', propagationPolicy: 'Background' },
  ]);
});

describe('an object that the operator creates once', () => {
  it.each(createdOnce.map((resource) => [resource.kind, resource] as const))(
    'is read if it exists, with the rights of the installation: %s',
    async (_, resource) => {
      const { user, writer } = await installed();
      const { apiVersion, kind } = resource;
      const object = { apiVersion, kind, metadata: { namespace: 'team', name: 'one' } };
      if (resource === CertificateRequest) await user.create(definitionOf(resource), { fieldManager: 'somebody' });
      const created = await writer.createOnce(object);
      const found = await writer.createOnce({ ...object, metadata: { ...object.metadata, labels: { other: 'yes' } } });
      expect(found).toEqual(created);
    },
  );

  it('is of a kind that the operator may read', async () => {
    const { writer } = await installed();
    const object = { apiVersion: 'v1', kind: 'Service', metadata: { namespace: 'team', name: 'one' } };
    await expect(writer.createOnce(object)).rejects.toThrow('the operator may not read an existing Service');
  });
});

function definitionOf(resource: Resource) {
  const { apiVersion, kind } = CustomResourceDefinition;
  const versions = [{ name: versionOf(resource), served: true, storage: true }];
  return { apiVersion, kind, metadata: { name: definitionName(resource) }, spec: { versions } };
}

/** An API server with the rights of the installation, its administrator, and a writer of the operator. */
async function installed(): Promise<{ user: MemoryClient; client: MemoryClient; writer: Writer }> {
  const namespace = 'team';
  const clock = new ManualClock();
  const server = new MemoryApiServer(() => clock.now());
  const user = new MemoryClient(server, administrator('somebody'));
  const metadata = { name: namespace };
  await user.create({ apiVersion: 'v1', kind: 'Namespace', metadata }, { fieldManager: 'somebody' });
  installRights(server);
  const client = new MemoryClient(server, operatorUser());
  const management = new ManagementCluster({ client, clock, onError: () => {} });
  const applySet = new ApplySet({ client, fieldManager: 'us', lookup: () => undefined, clock });
  const requestCaches = new RequestCaches(clock);
  const names = { key: 'team/c1', namespace, name: 'c1', cluster: 'c1', infrastructure: undefined };
  return { user, client, writer: createWriter({ client, applySet, management, requestCaches, ...names }) };
}

describe('fields that the operator sets on an object', () => {
  const namespace = 'team';
  const name = { namespace, name: 'one' };
  const somebody = { fieldManager: 'somebody' };
  const noted = { annotations: { noted: 'yes' } };

  /** An API server with one object, and a writer that has observed it. */
  async function seenObject(): Promise<{ client: MemoryClient; writer: Writer; object: KubeObject }> {
    const { client, writer } = await installed();
    return { client, writer, object: await make(client) };
  }

  const make = (client: MemoryClient) =>
    client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: name }, somebody);

  it('are kept beside those of others, and removed when they are not set again for the same purpose', async () => {
    const { client, writer, object } = await seenObject();
    await writer.setFields(ConfigMap, object, noted, 'note');
    await writer.setFields(ConfigMap, object, { annotations: { other: 'yes' } }, 'another');
    expect((await client.get(ConfigMap, name)).metadata.annotations).toEqual({ noted: 'yes', other: 'yes' });
    await writer.setFields(ConfigMap, object, {}, 'note');
    expect((await client.get(ConfigMap, name)).metadata.annotations).toEqual({ other: 'yes' });
  });

  it('do not recreate an object that was deleted meanwhile, as it would be empty', async () => {
    const { client, writer, object } = await seenObject();
    await client.delete(ConfigMap, name);
    await expect(writer.setFields(ConfigMap, object, noted, 'note')).rejects.toThrow('Precondition failed');
    expect(await client.find(ConfigMap, name)).toBeUndefined();
  });

  it('are not set on another object of the same name', async () => {
    const { client, writer, object } = await seenObject();
    await client.delete(ConfigMap, name);
    await make(client);
    await expect(writer.setFields(ConfigMap, object, noted, 'note')).rejects.toThrow('metadata.uid');
    expect((await client.get(ConfigMap, name)).metadata.annotations).toBeUndefined();
  });

  it('are not set if requested when the object has changed since', async () => {
    const { client, writer, object } = await seenObject();
    await client.mergePatch(ConfigMap, name, { data: { theirs: 'yes' } }, somebody);
    const fields = { ...noted, onlyIfUnchanged: true };
    await expect(writer.setFields(ConfigMap, object, fields, 'note')).rejects.toThrow('has been modified');
  });
});
