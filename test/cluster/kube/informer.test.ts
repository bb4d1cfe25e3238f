import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigMap } from '../../../constructs/api/resources.ts';
import { KubeClient } from '../../../reconciler/kube/client.ts';
import { systemClock } from '../../../reconciler/kube/clock.ts';
import { connectionFor } from '../../../reconciler/kube/config.ts';
import { Informer, type InformerOptions } from '../../../reconciler/kube/informer.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import type { RequestRecord } from '../../../reconciler/kube/request.ts';
import { plainApiServer } from '../../support/plain-api-server.ts';
import { FlakyProxy } from '../../support/flaky-proxy.ts';
import { until } from '../../support/until.ts';

interface ConfigMapObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const us = { fieldManager: 'us' };
const server = plainApiServer();
/** Not through the proxy. */
const direct = server.client;
let proxy: FlakyProxy;
let client: KubeClient;
let requests: RequestRecord[];
let informers: Informer<ConfigMapObject>[];
let errors: unknown[];
let namespace: string;
let serial = 0;

const configMap = (name: string, data: Record<string, string> = {}, labels = {}): ConfigMapObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace, name, labels },
  data,
});

/** A running informer and its events, as `added name`. */
function inform(options: Partial<InformerOptions> = {}) {
  const informer = new Informer<ConfigMapObject>({
    client,
    resource: ConfigMap,
    namespace,
    clock: systemClock,
    onError: (error) => errors.push(error),
    ...options,
  });
  const events: string[] = [];
  informer.onChange(({ type, object }) => events.push(`${type} ${object.metadata.name}`));
  informers.push(informer);
  informer.start();
  return { informer, events };
}
const names = (informer: Informer) => informer.list().map(({ metadata }) => metadata.name);
const verbs = () => requests.map(({ verb }) => verb);

beforeEach(async () => {
  [requests, informers, errors] = [[], [], []];
  namespace = `informer-${++serial}`;
  await direct.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, us);
  proxy = await FlakyProxy.start(server.port);
  const target = { ...server.target, server: `https://127.0.0.1:${proxy.port}` };
  client = new KubeClient(connectionFor(target), { onRequest: (record) => requests.push(record) });
});
afterEach(async () => {
  await Promise.all(informers.map((informer) => informer.stop()));
  await client.connection.close();
  await proxy.stop();
});

describe('Informer', () => {
  it('lists the existing objects and then follows every change', async () => {
    await direct.apply(configMap('old'), us);
    const { informer, events } = inform();
    await informer.synced;
    expect(events).toEqual(['added old']);
    await direct.apply(configMap('new'), us);
    await direct.apply(configMap('new', { a: '1' }), us);
    await direct.delete(ConfigMap, { namespace, name: 'old' });
    await until('the deletion', () => events.includes('deleted old'));
    expect(events).toEqual(['added old', 'added new', 'updated new', 'deleted old']);
    expect(informer.get({ namespace, name: 'new' })?.data).toEqual({ a: '1' });
    expect(informer.isSynced).toBe(true);
    expect(verbs()).toEqual(['list', 'watch']);
  });

  it('keeps its selector, its index and only the managed fields of its manager', async () => {
    const labels = { app: 'hcp', cluster: 'one' };
    const { informer, events } = inform({
      labelSelector: 'app=hcp',
      indexedLabels: ['cluster'],
      fieldManager: us.fieldManager,
    });
    await informer.synced;
    await direct.apply(configMap('other'), us);
    await direct.apply(configMap('ours', {}, labels), us);
    const merge = { fieldManager: 'them' };
    await direct.mergePatch(ConfigMap, { namespace, name: 'ours' }, { data: { theirs: '1' } }, merge);
    await until('the patch', () => events.includes('updated ours'));
    const [ours] = informer.byLabel('cluster', 'one', namespace);
    expect(ours?.metadata.managedFields?.map(({ manager }) => manager)).toEqual(['us']);
    await direct.mergePatch(ConfigMap, { namespace, name: 'ours' }, { metadata: { labels: { app: null } } }, merge);
    await until('the object to leave the selection', () => events.includes('deleted ours'));
    expect(events).toEqual(['added ours', 'updated ours', 'deleted ours']);
    expect(informer.byLabel('cluster', 'one', namespace)).toEqual([]);
  });

  it('keeps only the metadata of objects that are just counted, with their own kind', async () => {
    await direct.apply(configMap('old', { heavy: 'data' }), us);
    const { informer, events } = inform({ metadataOnly: true });
    await informer.synced;
    await direct.apply(configMap('new', { heavy: 'data' }), us);
    await until('the second one', () => events.includes('added new'));
    expect(informer.list()).toMatchObject([
      { kind: 'ConfigMap', metadata: { name: 'old' } },
      { kind: 'ConfigMap', metadata: { name: 'new' } },
    ]);
    expect(informer.list().filter(({ data }) => data)).toEqual([]);
  });

  it('calls the next handlers although one throws', async () => {
    const { informer, events } = inform();
    await informer.synced;
    informer.onChange(() => {
      throw new Error('clumsy handler');
    });
    await direct.apply(configMap('a'), us);
    await direct.apply(configMap('b'), us);
    await until('both', () => events.includes('added b'));
    expect(errors).toEqual([new Error('clumsy handler'), new Error('clumsy handler')]);
  });

  it('reports existing objects to a late handler', async () => {
    await direct.apply(configMap('a'), us);
    const { informer } = inform();
    await informer.synced;
    const late: string[] = [];
    const end = informer.onChange(({ type, object }) => late.push(`${type} ${object.metadata.name}`));
    expect(late).toEqual(['added a']);
    end();
  });

  it('continues after a cut without a new list', async () => {
    const { informer, events } = inform();
    await informer.synced;
    await direct.apply(configMap('before'), us);
    await until('the first', () => events.includes('added before'));
    proxy.reset();
    await direct.apply(configMap('meanwhile'), us);
    await until('the later event', () => events.includes('added meanwhile'));
    expect(verbs().filter((verb) => verb === 'list')).toHaveLength(1);
    expect(events).toEqual(['added before', 'added meanwhile']);
  });

  it('loses nothing when the API server is killed and restarted', async () => {
    await direct.apply(configMap('stays'), us);
    await direct.apply(configMap('goes'), us);
    const { informer, events } = inform();
    await informer.synced;
    await server.killApiServer();
    await until('the error', () => errors.length > 0);
    await server.startApiServer();
    await direct.apply(configMap('new'), us);
    await direct.delete(ConfigMap, { namespace, name: 'goes' });
    await until('everything', () => events.includes('added new') && events.includes('deleted goes'));
    expect(names(informer).sort()).toEqual(['new', 'stays']);
    expect(informer.activeAt).toBeGreaterThan(systemClock.elapsed() - 20_000);
  });

  it('lists again when its version is compacted, and reports what it missed', async () => {
    await direct.apply(configMap('goes'), us);
    await direct.apply(configMap('changes'), us);
    const { informer, events } = inform();
    await informer.synced;
    proxy.goSilent();
    await direct.delete(ConfigMap, { namespace, name: 'goes' });
    await direct.apply(configMap('changes', { a: '1' }), us);
    await direct.apply(configMap('new'), us);
    // The server's own cache of recent changes would bridge the gap: only a new process starts with an empty one.
    await server.compact();
    await server.killApiServer();
    await server.startApiServer();
    proxy.heal();
    proxy.reset();
    await until('what it missed', () => events.includes('added new'));
    expect(events.slice(2)).toEqual(['deleted goes', 'updated changes', 'added new']);
    expect(verbs().filter((verb) => verb === 'list').length).toBeGreaterThan(1);
  });

  it('lists again when etcd was restored from a backup, and reports what is different in it', async () => {
    await direct.apply(configMap('changes', { a: 'old' }), us);
    let restores = 0;
    const { informer, events } = inform({ onRestored: () => (restores += 1) });
    await informer.synced;
    const restore = await server.backUp();
    await direct.apply(configMap('changes', { a: 'new' }), us);
    // More versions than an API server needs for its own objects when it starts.
    const names = Array.from({ length: 400 }, (_, index) => `new-${index}`);
    await Promise.all(names.map((name) => direct.apply(configMap(name), us)));
    await until('all of them', () => events.length > names.length + 1);
    await restore();
    await until('the state of the backup', () => informer.list().length === 1);
    expect(informer.get({ namespace, name: 'changes' })?.data).toEqual({ a: 'old' });
    expect(restores).toBe(1);
  });

  it('detects a connection that went silent', async () => {
    const { events } = inform({ silenceMs: 1_000 });
    await until('the watch', () => verbs().includes('watch'));
    proxy.goSilent();
    await direct.apply(configMap('meanwhile'), us);
    await until('the error', () => errors.length > 0);
    proxy.heal();
    await until('the later event', () => events.length > 0);
    expect(events).toEqual(['added meanwhile']);
  });

  it('is kept current by bookmarks although its own objects do not change', async () => {
    // The server sends a bookmark two seconds before the end of a watch, if any object of the resource has changed.
    const { informer } = inform({ watchSeconds: 5 });
    await informer.synced;
    const { items, resourceVersion } = await direct.list(ConfigMap, { namespace });
    expect([items, informer.hasSeen(`${Number(resourceVersion) + 1}`)]).toEqual([[], false]);
    const elsewhere = { namespace: 'default', name: 'elsewhere' };
    await until('a bookmark', async () => {
      await direct.apply({ ...configMap('elsewhere', { time: `${Date.now()}` }), metadata: elsewhere }, us);
      return informer.hasSeen(`${Number(resourceVersion) + 1}`);
    });
    expect([informer.list(), errors]).toEqual([[], []]);
    expect(verbs().filter((verb) => verb === 'list')).toHaveLength(1);
  });

  it('stops at once in any state', async () => {
    const { informer } = inform();
    await informer.synced;
    const missing = inform({ resource: { ...ConfigMap, plural: 'nothings' } });
    await until('a failure', () => errors.length > 0);
    // A watch lasts for minutes, and the clock by which the other one waits stands still.
    await expect(Promise.all([informer.stop(), missing.informer.stop()])).resolves.toBeDefined();
  });
});
