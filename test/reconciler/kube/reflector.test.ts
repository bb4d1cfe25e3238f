import { describe, expect, it } from 'vitest';
import { ConfigMap, DaemonSet } from '../../../constructs/api/resources.ts';
import { KubeError } from '../../../reconciler/kube/errors.ts';
import { Informer } from '../../../reconciler/kube/informer.ts';
import { InformerSet } from '../../../reconciler/kube/informer-set.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';
import { MemoryApiServer } from '../../support/memory-cluster/api-server.ts';
import { MemoryClient } from '../../support/memory-cluster/client.ts';
import { emptyHostedCluster } from '../../support/loop/memory-cluster.ts';
import { administrator } from '../../support/memory-cluster/users.ts';

const notServed = new KubeError('list DaemonSets: the server could not find the requested resource', {
  code: 404,
  reason: 'NotFound',
});

it.each([
  ['has no objects if that is possible', true],
  ['waits for it otherwise', false],
])('an informer of an API that is not served %s', async (_, mayBeUnserved) => {
  const clock = new ManualClock();
  const server = new MemoryApiServer(() => clock.now());
  const client = Object.assign(Object.create(new MemoryClient(server, administrator('reader'))) as MemoryClient, {
    list: async () => {
      throw notServed;
    },
  });
  const informer = new Informer({ client, clock, resource: DaemonSet, mayBeUnserved });
  informer.start();
  await settled();
  expect(informer.isSynced).toBe(mayBeUnserved);
  expect(informer.list()).toEqual([]);
  await informer.stop();
});

describe('what is only listed', () => {
  const configMap = (name: string, value: string) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default' },
    data: { value },
  });
  const us = { fieldManager: 'us', force: true };

  async function open() {
    const clock = new ManualClock();
    const server = emptyHostedCluster(clock);
    const asked: string[] = [];
    let held: Promise<void> = Promise.resolve();
    const before = async (action: string) => {
      asked.push(action);
      if (action.startsWith('list')) await held;
    };
    const client = new MemoryClient(server, administrator('reader'), { before });
    /** Lists get no answer until the returned function is called. */
    const hold = () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    };
    const restored: string[] = [];
    const common = { client, clock, onRestored: () => restored.push('restored') };
    const set = new InformerSet([new Informer({ ...common, resource: ConfigMap, isListed: true })]);
    await client.apply(configMap('a', '1'), us);
    asked.length = 0;
    await set.start();
    const valueOf = (name: string) =>
      (set.get(ConfigMap, { name, namespace: 'default' }) as { data?: { value: string } } | undefined)?.data?.value;
    return { clock, server, client, set, asked, restored, valueOf, hold };
  }

  it('is known as it was at the last list, without a watch', async () => {
    const { clock, client, set, asked, valueOf } = await open();
    await client.apply(configMap('a', '2'), us);
    await clock.advance(60 * 60_000);
    expect(valueOf('a')).toBe('1');
    set.refresh();
    await settled();
    expect(valueOf('a')).toBe('2');
    expect(asked.filter((action) => !action.startsWith('apply'))).toEqual(['list configmaps', 'list configmaps']);
    await set.stop();
  });

  it('ends its list before another one begins, however long that takes', async () => {
    const { client, set, asked, valueOf, hold } = await open();
    const release = hold();
    set.refresh();
    await settled();
    set.refresh();
    await client.apply(configMap('a', '2'), us);
    release();
    await settled();
    expect(valueOf('a')).toBe('2');
    expect(asked.filter((action) => action.startsWith('list'))).toHaveLength(2);
    set.refresh();
    await settled();
    expect(asked.filter((action) => action.startsWith('list'))).toHaveLength(3);
    await set.stop();
  });

  it('includes what was written since, until a list has it or has it no more', async () => {
    const { client, set, valueOf } = await open();
    set.remember(await client.apply(configMap('b', '1'), us));
    expect(set.list(ConfigMap).map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
    await client.delete(ConfigMap, { name: 'b', namespace: 'default' });
    set.refresh();
    await settled();
    expect(valueOf('b')).toBeUndefined();
    expect(set.list(ConfigMap).map(({ metadata }) => metadata.name)).toEqual(['a']);
    await set.stop();
  });

  it('has another history when a list is older than what was written before', async () => {
    const { client, server, set, restored } = await open();
    const backup = server.store.copy();
    set.remember(await client.apply(configMap('a', '2'), us));
    server.store.restore(backup);
    set.refresh();
    await settled();
    expect(restored).toEqual(['restored']);
    await set.stop();
  });
});
