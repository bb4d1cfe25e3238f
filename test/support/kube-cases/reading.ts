import { expect } from 'vitest';
import { ConfigMap, Secret } from '../../../constructs/api/resources.ts';
import type { WatchOptions } from '../../../reconciler/kube/client-options.ts';
import { type AnyObject, configMap, type KubeCase, type KubeCaseContext, us } from './kube-case.ts';

const named = (context: KubeCaseContext, name: string, labels: Readonly<Record<string, string>> = {}) =>
  configMap(context, { of: name }, { name, labels });

/** The next events of a watch as `TYPE name`, bookmarks left out. */
async function events({ client, namespace }: KubeCaseContext, count: number, options: WatchOptions): Promise<string[]> {
  const seen: string[] = [];
  const controller = new AbortController();
  const watch = client.watch(ConfigMap, { namespace, timeoutSeconds: 30, ...options, signal: controller.signal });
  for await (const event of watch) {
    if (event.type !== 'BOOKMARK') seen.push(`${event.type} ${event.object.metadata.name}`);
    if (seen.length >= count) break;
  }
  return seen;
}

/** How clients find objects and watch their changes. */
export const readingCases: readonly KubeCase[] = [
  {
    name: 'lists the objects of a namespace in the order of their names, with their kind',
    async run(context) {
      const { client, namespace } = context;
      for (const name of ['b', 'c', 'a']) await client.create(named(context, name), us);
      const { items, resourceVersion } = await client.list(ConfigMap, { namespace });
      expect(items.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual(
        ['a', 'b', 'c'].map((name) => `ConfigMap ${name}`),
      );
      const newest = Math.max(...items.map(({ metadata }) => Number(metadata.resourceVersion)));
      expect(Number(resourceVersion)).toBeGreaterThanOrEqual(newest);
    },
  },
  {
    name: 'selects by labels',
    async run(context) {
      const { client, namespace } = context;
      await client.create(named(context, 'a', { app: 'one', tier: 'x' }), us);
      await client.create(named(context, 'b', { app: 'two' }), us);
      await client.create(named(context, 'c'), us);
      const selected = async (labelSelector: string) =>
        (await client.list(ConfigMap, { namespace, labelSelector })).items
          .map(({ metadata }) => metadata.name)
          .join('');
      expect(await selected('app=one')).toBe('a');
      expect(await selected('app')).toBe('ab');
      expect(await selected('app,tier')).toBe('a');
      expect(await selected('app in (one,two),tier!=x')).toBe('b');
      expect(await selected('!app')).toBe('c');
      expect(await selected('app notin (one)')).toBe('bc');
    },
  },
  {
    name: 'selects by fields',
    async run(context) {
      const { client, namespace } = context;
      await client.create(named(context, 'a'), us);
      await client.create(named(context, 'b'), us);
      const { items } = await client.list(ConfigMap, { namespace, fieldSelector: 'metadata.name=b' });
      expect(items.map(({ metadata }) => metadata.name)).toEqual(['b']);
      const secret = (name: string, type: string): AnyObject => ({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name, namespace },
        type,
      });
      await client.create(secret('plain', 'Opaque'), us);
      await client.create(secret('special', 'example.org/special'), us);
      const secrets = await client.list(Secret, { namespace, fieldSelector: 'type=example.org/special' });
      expect(secrets.items.map(({ metadata }) => metadata.name)).toEqual(['special']);
    },
  },
  {
    name: 'returns only the metadata of objects when nothing else is requested',
    async run(context) {
      const { client, namespace } = context;
      const { metadata } = await client.create(named(context, 'a', { app: 'one' }), us);
      const { items } = await client.list<AnyObject>(ConfigMap, { namespace, metadataOnly: true });
      expect(items).toHaveLength(1);
      expect(items[0]).toMatchObject({ kind: 'ConfigMap', metadata: { name: 'a', labels: { app: 'one' } } });
      expect(items[0]).not.toHaveProperty('data');
      const watch = client.watch<AnyObject>(ConfigMap, { namespace, metadataOnly: true, timeoutSeconds: 30 });
      for await (const event of watch) {
        if (event.type === 'BOOKMARK') continue;
        expect(event.object.metadata.uid).toBe(metadata.uid);
        expect(event.object).not.toHaveProperty('data');
        break;
      }
    },
  },
  {
    name: 'returns the same objects page by page as in one list',
    async run(context) {
      const { client, namespace } = context;
      for (const name of ['a', 'b']) await client.create(named(context, name), us);
      const names: string[] = [];
      for await (const page of client.pages(ConfigMap, { namespace }))
        names.push(...page.map(({ metadata }) => metadata.name));
      expect(names).toEqual(['a', 'b']);
    },
  },
  {
    name: 'starts a watch with the existing objects when no version is given',
    async run(context) {
      await context.client.create(named(context, 'a'), us);
      expect(await events(context, 1, {})).toEqual(['ADDED a']);
    },
  },
  {
    name: 'continues a watch after the given version and misses no change',
    async run(context) {
      const { client, namespace } = context;
      await client.create(named(context, 'before'), us);
      const { resourceVersion } = await client.list(ConfigMap, { namespace });
      const { metadata } = await client.create(named(context, 'a'), us);
      await client.mergePatch(ConfigMap, metadata, { data: { more: '1' } }, us);
      await client.mergePatch(ConfigMap, metadata, { data: { more: '1' } }, us);
      await client.delete(ConfigMap, metadata);
      await client.create(named(context, 'b'), us);
      expect(await events(context, 4, { resourceVersion })).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a', 'ADDED b']);
      expect(await events(context, 2, { resourceVersion: metadata.resourceVersion })).toEqual([
        'MODIFIED a',
        'DELETED a',
      ]);
    },
  },
  {
    name: 'sends ADDED and DELETED to a watch when an object starts or ceases to match the selector',
    async run(context) {
      const { client, namespace } = context;
      const { resourceVersion } = await client.list(ConfigMap, { namespace });
      const { metadata } = await client.create(named(context, 'a'), us);
      const label = (app: string | null) =>
        client.mergePatch(ConfigMap, metadata, { metadata: { labels: { app } } }, us);
      await label('one');
      await label('two');
      await label(null);
      await client.create(named(context, 'b', { app: 'three' }), us);
      expect(await events(context, 4, { resourceVersion, labelSelector: 'app' })).toEqual([
        'ADDED a',
        'MODIFIED a',
        'DELETED a',
        'ADDED b',
      ]);
    },
  },
  {
    name: 'sends a deletion with the version at which it happened',
    async run(context) {
      const { client, namespace } = context;
      const { metadata } = await client.create(named(context, 'a'), us);
      await client.delete(ConfigMap, metadata);
      const { resourceVersion = '0' } = metadata;
      const after = await client.list(ConfigMap, { namespace });
      for await (const event of client.watch(ConfigMap, { namespace, resourceVersion, timeoutSeconds: 30 })) {
        if (event.type === 'BOOKMARK') continue;
        expect(event.type).toBe('DELETED');
        expect(Number(event.object.metadata.resourceVersion)).toBeGreaterThan(Number(resourceVersion));
        expect(Number(event.object.metadata.resourceVersion)).toBeLessThanOrEqual(Number(after.resourceVersion));
        break;
      }
    },
  },
];
