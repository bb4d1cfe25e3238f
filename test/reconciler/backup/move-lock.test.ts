import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ClusterBackups } from '../../../reconciler/backup/cluster-backups.ts';
import { ObjectStore } from '../../../reconciler/backup/store/object-store.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { ObjectStoreServer } from '../../support/object-store-server.ts';
import { until } from '../../support/until.ts';

const backup = { time: Date.parse('2026-11-25T09:00:00.000Z'), revision: 42 };
const key = 'team/c1/2026-11-25T09-00-00.000Z-42/claim.json';

let clock: ManualClock;
/** Claims that are under way. */
const open = new Set<Promise<string>>();

function begin(uid: string): Promise<string> {
  const claimed = backups.takeMoveLock(backup, uid, undefined, clock).finally(() => open.delete(claimed));
  open.add(claimed);
  return claimed;
}

/** Lets the time pass whenever every claim under way waits for it. */
async function told(...claims: Promise<string>[]): Promise<string[]> {
  const all = Promise.all(claims);
  while (open.size > 0) {
    if (clock.pending === open.size) await clock.advance(1_000);
    else await setTimeout(1);
  }
  return all;
}

const claim = async (uid: string) => (await told(begin(uid)))[0];

let server: ObjectStoreServer;
let store: ObjectStore;
let backups: ClusterBackups;
beforeEach(async () => {
  clock = new ManualClock();
  server = await ObjectStoreServer.start();
  store = new ObjectStore(server.settings);
  backups = new ClusterBackups(store, { namespace: 'team', cluster: 'c1' });
});
afterEach(() => {
  store.close();
  server.stop();
});

describe.each(['kept', 'ignored', 'unsupported'] as const)('in a store where conditions are %s', (conditions) => {
  beforeEach(() => void (server.conditions = conditions));

  it('the data of a backup belong to the first one that claims them, for good', async () => {
    expect(await claim('here')).toBe('here');
    expect(await claim('there')).toBe('here');
    expect(await claim('here')).toBe('here');
  });

  it('two that claim them within one round trip are told the same one', async () => {
    const held = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    server.beforeWrite = async (text) => {
      if (!text.includes('there')) return;
      arrived.resolve();
      await held.promise;
    };
    const there = begin('there');
    await arrived.promise;
    const here = begin('here');
    await until('the first one to wait, or to have its answer', async () => open.size === 1 || clock.pending === 1);
    held.resolve();
    const owners = await told(here, there);
    expect(new Set(owners).size).toBe(1);
  });
});

it('of many that claim the same data at once, all are told the same one', async () => {
  const uids = Array.from({ length: 8 }, (_, index) => `uid-${index}`);
  const owners = await Promise.all(uids.map((uid) => backups.takeMoveLock(backup, uid)));
  expect(new Set(owners).size).toBe(1);
  expect(uids).toContain(owners[0]);
});

it.each([['{"formatVersion":2,"uid":"here"}'], ['{"formatVersion":1,"uid":"a b"}'], ['here']])(
  'a claim that cannot be read lets no one go on, and is kept: %s',
  async (text) => {
    server.objects.set(key, Buffer.from(text));
    await expect(backups.takeMoveLock(backup, 'here')).rejects.toThrow(/must be a uid|Invalid|not valid JSON/);
    expect(server.objects.get(key)?.toString()).toBe(text);
  },
);

it('a claim is no backup, and goes with its backup', async () => {
  await backups.takeMoveLock(backup, 'here');
  expect((await backups.list()).backups).toEqual([]);
  await backups.delete(backup);
  expect(server.objects.has(key)).toBe(false);
});
