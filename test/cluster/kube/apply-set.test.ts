import type { DeploymentObject } from '../../../imports/kubernetes.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigMap, Deployment, type Resource } from '../../../constructs/api/resources.ts';
import { ApplySet } from '../../../reconciler/kube/apply-set.ts';
import { KubeClient } from '../../../reconciler/kube/client.ts';
import { systemClock } from '../../../reconciler/kube/clock.ts';
import { connectionFor } from '../../../reconciler/kube/config.ts';
import { isNotFound } from '../../../reconciler/kube/errors.ts';
import { Informer } from '../../../reconciler/kube/informer.ts';
import type { KubeObject, ObjectName } from '../../../reconciler/kube/object.ts';
import type { RequestRecord } from '../../../reconciler/kube/request.ts';
import { plainApiServer } from '../../support/plain-api-server.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { until } from '../../support/until.ts';

interface ConfigMapObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const fieldManager = 'hosted-control-plane';
const kubectl = { fieldManager: 'kubectl-edit' };
const owner = 'ns/cluster';

const server = plainApiServer();
const other = server.client;
let client: KubeClient;
let requests: RequestRecord[];
let informers: Map<Resource, Informer>;
let applySet: ApplySet;
let namespace: string;
let serial = 0;

const labels = { cluster: 'one' };
const configMap = (name: string, data: Record<string, string> = { a: '1' }): ConfigMapObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace, name, labels },
  data,
});
const deployment = (replicas: number): DeploymentObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { namespace, name: 'api', labels },
  spec: Object.assign(
    { replicas },
    {
      selector: { matchLabels: { app: 'api' } },
      template: {
        metadata: { labels: { app: 'api' } },
        spec: { containers: [{ name: 'api', image: 'api', ports: [{ containerPort: 1, protocol: 'TCP' }] }] },
      },
    },
  ),
});

/** The writes of one more apply once the caches are current. */
async function writes(objects: readonly KubeObject[]): Promise<number> {
  requests = [];
  await applySet.apply(owner, objects);
  return requests.length;
}
/** Resolves when the caches are as new as the object. */
async function cached(resource: Resource, object: KubeObject): Promise<void> {
  const { resourceVersion = '' } = object.metadata;
  await until('the cache', () => informers.get(resource)?.hasSeen(resourceVersion));
}

beforeEach(async () => {
  requests = [];
  namespace = `apply-set-${++serial}`;
  await other.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, kubectl);
  client = new KubeClient(connectionFor(server.target), { onRequest: (record) => requests.push(record) });
  const options = { client: other, namespace, clock: systemClock, fieldManager };
  informers = new Map([ConfigMap, Deployment].map((resource) => [resource, new Informer({ ...options, resource })]));
  for (const informer of informers.values()) informer.start();
  await Promise.all([...informers.values()].map(({ synced }) => synced));
  applySet = new ApplySet({
    client,
    fieldManager,
    clock: systemClock,
    lookup: (resource, name) => informers.get(resource)?.get(name),
  });
});
afterEach(async () => {
  await Promise.all([...informers.values()].map((informer) => informer.stop()));
  await client.connection.close();
});

describe('ApplySet', () => {
  it('applies once, then sends no request while nothing changes', async () => {
    const objects = [deployment(2), ...Array.from({ length: 20 }, (_, index) => configMap(`map-${index}`))];
    const live = await applySet.apply(owner, objects);
    expect(live.map(({ metadata }) => metadata.name)).toEqual(objects.map(({ metadata }) => metadata.name));
    expect(requests).toHaveLength(21);
    await Promise.all(live.map((object) => cached(object.kind === 'Deployment' ? Deployment : ConfigMap, object)));
    expect(await writes(objects)).toBe(0);
    expect(await writes(objects)).toBe(0);
  });

  it('ignores a status, and labels and fields of others', async () => {
    const [live] = await applySet.apply(owner, [deployment(2)]);
    await other.mergePatch(
      Deployment,
      { namespace, name: 'api' },
      { status: { observedGeneration: 1 } },
      { ...kubectl, subresource: 'status' },
    );
    const patch = { metadata: { annotations: { theirs: '1' } }, spec: { minReadySeconds: 5 } };
    const patched = await other.mergePatch(Deployment, { namespace, name: 'api' }, patch, kubectl);
    expect(patched.metadata.resourceVersion).not.toBe(live?.metadata.resourceVersion);
    await cached(Deployment, patched);
    expect(await writes([deployment(2)])).toBe(0);
  });

  it.each<[string, object]>([
    ['changed a field', { spec: { replicas: 5 } }],
    ['removed a label', { metadata: { labels: { cluster: null } } }],
    ['changed a list item', { spec: { template: { spec: { containers: [{ name: 'api', image: 'evil' }] } } } }],
  ])('repairs once what another client %s of', async (_, patch) => {
    await applySet.apply(owner, [deployment(2)]);
    const patched = await other.mergePatch(Deployment, { namespace, name: 'api' }, patch, kubectl);
    await cached(Deployment, patched);
    requests = [];
    const [live]: DeploymentObject[] = await applySet.apply(owner, [deployment(2)]);
    expect(requests).toHaveLength(1);
    expect(live?.spec).toMatchObject({ replicas: 2, template: { spec: { containers: [{ image: 'api' }] } } });
    expect(live?.metadata.labels).toEqual(labels);
    if (live) await cached(Deployment, live);
    expect(await writes([deployment(2)])).toBe(0);
  });

  it('stops a conflict after five rounds in a row, names the object and tries again later', async () => {
    const clock = new ManualClock();
    const reverted: string[] = [];
    const lookup = (resource: Resource, name: ObjectName) => informers.get(resource)?.get(name);
    const onRevert = ({ metadata }: KubeObject) => reverted.push(metadata.name);
    const patient = new ApplySet({ client, fieldManager, clock, lookup, onRevert });
    const changeIt = async (round: number): Promise<void> => {
      const patch = { data: { a: `theirs ${round}` } };
      await cached(ConfigMap, await other.mergePatch(ConfigMap, { namespace, name: 'a' }, patch, kubectl));
    };
    await patient.apply(owner, [configMap('a')]);
    for (let round = 1; round <= 5; round++) {
      await changeIt(round);
      await patient.apply(owner, [configMap('a')]);
    }
    await changeIt(6);
    await expect(patient.apply(owner, [configMap('a')])).rejects.toThrow(
      `ConfigMap ${namespace}/a was changed 5 times`,
    );
    expect(reverted).toEqual(['a', 'a', 'a', 'a', 'a']);
    await clock.advance(60_000);
    const [live]: ConfigMapObject[] = await patient.apply(owner, [configMap('a')]);
    expect(live?.data).toEqual({ a: '1' });
  });

  it('restores a field that another manager applied by force', async () => {
    await applySet.apply(owner, [configMap('a')]);
    const stolen = await other.apply(configMap('a', { a: '2' }), { ...kubectl, force: true });
    await cached(ConfigMap, stolen);
    const [live]: ConfigMapObject[] = await applySet.apply(owner, [configMap('a')]);
    expect(live?.data).toEqual({ a: '1' });
  });

  it('recreates a deleted object', async () => {
    const [first] = await applySet.apply(owner, [configMap('a')]);
    await until('the cache', () => informers.get(ConfigMap)?.get({ namespace, name: 'a' }));
    await other.delete(ConfigMap, { namespace, name: 'a' });
    await until('the cache', () => !informers.get(ConfigMap)?.get({ namespace, name: 'a' }));
    const [second] = await applySet.apply(owner, [configMap('a')]);
    expect(second?.metadata.uid).not.toBe(first?.metadata.uid);
  });

  it('applies to an object that another client recreated with the same name', async () => {
    await applySet.apply(owner, [configMap('a')]);
    await other.delete(ConfigMap, { namespace, name: 'a' });
    const imposter = await other.create(configMap('a', { a: 'theirs' }), kubectl);
    await cached(ConfigMap, imposter);
    const [live]: ConfigMapObject[] = await applySet.apply(owner, [configMap('a')]);
    expect(live?.data).toEqual({ a: '1' });
  });

  it('returns the newest known state while the caches are behind', async () => {
    const behind = new Informer({ client: other, resource: ConfigMap, namespace, clock: systemClock, fieldManager });
    behind.start();
    const first = await other.apply(configMap('a'), { fieldManager });
    await until('the cache', () => behind.get({ namespace, name: 'a' }));
    await behind.stop();
    const lagging = new ApplySet({ client, fieldManager, clock: systemClock, lookup: (_, name) => behind.get(name) });
    const changed = configMap('a', { a: '2' });
    const [written] = await lagging.apply(owner, [changed]);
    requests = [];
    const [live]: ConfigMapObject[] = await lagging.apply(owner, [changed]);
    expect(requests).toEqual([]);
    expect(live).toEqual(written);
    expect(live?.data).toEqual({ a: '2' });
    expect(behind.get(first.metadata)?.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  });

  it('forgets what an owner has, and applies it again only where the cache may be wrong', async () => {
    const [live] = await applySet.apply(owner, [configMap('a')]);
    if (live) await cached(ConfigMap, live);
    expect(await writes([configMap('a')])).toBe(0);
    applySet.forget(owner);
    expect(await writes([configMap('a')])).toBe(0);
    applySet.forgetAll();
    expect(await writes([configMap('a')])).toBe(1);
  });

  it('tries all of them and throws the errors', async () => {
    const nowhere = { ...configMap('b'), metadata: { namespace: 'nowhere', name: 'b' } };
    const objects = [nowhere, configMap('a'), { ...nowhere, metadata: { namespace: 'nowhere', name: 'c' } }];
    const error: unknown = await applySet.apply(owner, objects).catch((caught: unknown) => caught);
    expect(String(error)).toContain('apply ConfigMap nowhere/b: namespaces "nowhere" not found (and 1 more)');
    expect(isNotFound(error)).toBe(true);
    expect(await client.find(ConfigMap, { namespace, name: 'a' })).toBeDefined();
  });

  it('deletes objects that it applied and that are not rendered any more, and no others', async () => {
    const rendered = [configMap('keep'), configMap('drop')];
    await applySet.apply(owner, rendered);
    const copied = await other.create(configMap('copied-labels'), kubectl);
    await cached(ConfigMap, copied);
    const inventory = informers.get(ConfigMap)?.list() ?? [];
    expect(inventory).toHaveLength(3);
    const pruned = await applySet.prune(owner, [configMap('keep')], inventory);
    expect(pruned.map(({ metadata }) => metadata.name)).toEqual(['drop']);
    const { items } = await client.list(ConfigMap, { namespace });
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['copied-labels', 'keep']);
  });
});
