import { beforeEach, describe, expect, it } from 'vitest';
import { ConfigMap } from '../../../constructs/api/resources.ts';
import { KubeError } from '../../../reconciler/kube/errors.ts';
import { Informer } from '../../../reconciler/kube/informer.ts';
import type { WatchEvent } from '../../../reconciler/kube/watch.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';
import { MemoryApiServer } from '../../support/memory-cluster/api-server.ts';
import { MemoryClient } from '../../support/memory-cluster/client.ts';
import { administrator } from '../../support/memory-cluster/users.ts';

const silent = new KubeError('watch ConfigMaps: the server is silent', { code: 0, reason: 'Silent' });

/** What a watch does: it ends so, after what it has sent. */
interface Watch {
  readonly sends?: WatchEvent;
  /** What happens in the cluster, and is not sent. */
  readonly misses?: () => Promise<unknown>;
  readonly ends: Error;
}

let clock: ManualClock;
let server: MemoryApiServer;
let requests: string[];
let errors: string[];
let watches: Watch[];
beforeEach(() => {
  clock = new ManualClock();
  server = new MemoryApiServer(() => clock.now());
  [requests, errors, watches] = [[], [], []];
});

/** An informer whose first watches do as the test wants; later ones stay open. */
async function informed(...given: readonly Watch[]): Promise<Informer> {
  watches.push(...given);
  const before = (action: string): void => void requests.push(action.split(' ')[0] ?? '');
  const client = new MemoryClient(server, administrator('reader'), { before });
  const read = client.watch.bind(client);
  async function* watch(...args: Parameters<typeof read>): AsyncGenerator<WatchEvent, void> {
    const next = watches.shift();
    if (!next) return yield* read(...args);
    requests.push('watch');
    if (next.sends) yield next.sends;
    await next.misses?.();
    await clock.advance(150_000);
    throw next.ends;
  }
  Object.assign(client, { watch });
  const onError = (error: unknown): void => void errors.push(String(error));
  const informer = new Informer({ client, clock, resource: ConfigMap, random: () => 0.5, onError });
  informer.start();
  for (let turns = 0; turns < 20; turns++) await settled();
  await clock.advance(100);
  await settled();
  return informer;
}

const bookmark = { type: 'BOOKMARK', resourceVersion: '1' } as const;

describe('a watch that has received nothing for too long', () => {
  it.each<[string, readonly Watch[], readonly string[]]>([
    ['is opened again at once', [{ ends: silent }], ['list', 'watch', 'check', 'watch']],
    [
      'is replaced by a list when the next one receives nothing either',
      [{ ends: silent }, { ends: silent }],
      ['list', 'watch', 'check', 'watch', 'list', 'watch'],
    ],
    [
      'is opened again when the next one received a bookmark before it was silent',
      [{ ends: silent }, { sends: bookmark, ends: silent }],
      ['list', 'watch', 'check', 'watch', 'check', 'watch'],
    ],
    [
      'is opened again after the list that followed two silent ones',
      [{ ends: silent }, { ends: silent }, { ends: silent }],
      ['list', 'watch', 'check', 'watch', 'list', 'watch', 'check', 'watch'],
    ],
  ])('%s', async (_, given, expected) => {
    const informer = await informed(...given);
    expect(requests).toEqual(expected);
    await informer.stop();
  });

  it('is reported only when the next one is silent, too', async () => {
    const one = await informed({ ends: silent });
    expect(errors).toEqual([]);
    await one.stop();
    const two = await informed({ ends: silent }, { ends: silent });
    expect(errors).toEqual([String(silent)]);
    await two.stop();
  });

  it('hides nothing for long, although the server sends no event of it', async () => {
    const user = new MemoryClient(server, administrator('user'));
    const us = { fieldManager: 'user' };
    await user.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } }, us);
    const misses = () =>
      user.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'team', name: 'map' } }, us);
    // The one after the list tells nothing, either.
    const informer = await informed({ ends: silent }, { misses, ends: silent }, { ends: silent });
    expect(informer.list().map(({ metadata }) => metadata.name)).toEqual(['map']);
    await informer.stop();
  });
});

it('an informer knows when it has heard something last, and when it has moved', async () => {
  const start = clock.elapsed();
  const informer = await informed({ ends: silent }, { ends: silent });
  expect([informer.activeAt - start, informer.movedAt - start]).toEqual([300_100, 300_100]);
  await clock.advance(60_000);
  expect(informer.activeAt - start).toBe(300_100);
  await informer.stop();
});
