import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ClusterBackups } from '../../../reconciler/backup/cluster-backups.ts';
import { backupId } from '../../../constructs/cluster/backup-names.ts';
import { ObjectStore } from '../../../reconciler/backup/store/object-store.ts';
import { assumeRole } from '../../../reconciler/backup/store/web-identity.ts';
import { EndlessServer } from '../../support/endless-server.ts';
import { ObjectStoreServer, storeAt } from '../../support/object-store-server.ts';
import { snapshotFacts } from '../../support/snapshot-facts.ts';

/** The limit of an answer, and what the buffers of two sockets hold. */
const mostBytes = (2 << 20) + (12 << 20);

let server: EndlessServer;
let store: ObjectStore;
beforeEach(async () => {
  server = await EndlessServer.start();
  store = new ObjectStore(storeAt(server.url));
});
afterEach(() => {
  store.close();
  server.stop();
});

const token = async () => 'token';
const list = '<ListBucketResult><IsTruncated>true</IsTruncated>';
const contents = '<Contents><Key>team/c1/2026-11-21T09-15-31.123Z-4711/manifest.json</Key></Contents>';
const fact = { reason: 'AnswerTooLong', message: expect.stringContaining('the answer does not end') as unknown };

it('a store whose answer declares its type again and again is not parsed', async () => {
  server.answer = { status: 200, start: '', forever: '<!doctype a>' };
  const message: unknown = expect.stringContaining('the answer does not end');
  await expect(store.list('team/c1/')).rejects.toMatchObject({ reason: 'AnswerTooLong', message });
  expect(server.sentBytes).toBeLessThan(mostBytes);
});

// They count as traffic, and to read them took a whole processor.
describe.each(['103 Early Hints', '100 Continue'])('a server that sends %s without end before its answer', (hint) => {
  beforeEach(() => {
    server.answer = { status: 103, start: '', forever: `HTTP/1.1 ${hint}\r\n\r\n` };
  });

  it('is left if it is a store', async () => {
    await expect(store.list('team/c1/')).rejects.toMatchObject(fact);
    expect(server.requests).toBe(1);
    expect(server.sentBytes).toBeLessThan(mostBytes);
  });

  it('is left if it is a token service', async () => {
    const credentials = { kind: 'webIdentity', roleArn: 'role', tokenService: server.url, token } as const;
    await expect(assumeRole(storeAt(server.url), credentials)).rejects.toThrow('cannot assume a role');
    expect(server.sentBytes).toBeLessThan(mostBytes);
  });
});

describe('a store that answers without end', () => {
  it.each<[string, number, (store: ObjectStore) => Promise<unknown>]>([
    ['a list', 200, (of) => of.list('team/c1/')],
    ['an error', 403, (of) => of.list('team/c1/')],
    ['an error instead of an object', 404, (of) => of.getText('team/c1/x')],
    ['an upload', 200, (of) => of.putText('team/c1/x', 'text')],
    ['a deletion', 200, (of) => of.delete('team/c1/x')],
    ['a list of unfinished uploads', 200, (of) => of.abortUploads('team/c1/', 0)],
  ])('is left after a few megabytes of %s, and is not asked again', async (_, status, ask) => {
    server.answer = { status, start: list, forever: contents };
    await expect(ask(store)).rejects.toMatchObject(fact);
    expect(server.requests).toBe(1);
    expect(server.sentBytes).toBeLessThan(mostBytes);
  });

  it('is left after a few megabytes of a small object', async () => {
    await expect(store.getText('team/c1/x')).rejects.toThrow('it is longer than 1048576 bytes');
    expect(server.sentBytes).toBeLessThan(mostBytes);
  });

  it('is left at the length of a snapshot in its manifest', async () => {
    const stored = await ObjectStoreServer.start();
    const written = new ObjectStore(stored.settings);
    const name = { time: Date.parse('2026-11-21T09:15:31Z'), revision: 4711 };
    const owner = { namespace: 'team', cluster: 'c1' };
    const manifest = await new ClusterBackups(written, owner).write({ name, facts: snapshotFacts, snapshot: bytes() });
    written.close();
    stored.stop();
    await expect(readAll(new ClusterBackups(store, owner).readSnapshot(name, manifest))).rejects.toThrow(
      `backup ${backupId(name)} is damaged`,
    );
    expect(server.sentBytes).toBeLessThan(mostBytes);
  });
});

it.each([
  ['empty pages', '', 100],
  [
    'pages with names of the maximum length',
    `<Contents><Key>team/c1/${'x'.repeat(1000)}</Key></Contents>`.repeat(1000),
    17,
  ],
])('a list of %s without end is refused, with a remedy', async (_, page, lists) => {
  const pages = await ObjectStoreServer.start();
  pages.listsWithoutEnd = page;
  const endless = new ObjectStore(pages.settings);
  await expect(endless.list('team/c1/')).rejects.toMatchObject({
    reason: 'AnswerTooLong',
    message: expect.stringContaining('more than 100000 objects, or names longer') as unknown,
  });
  expect(pages.lists).toBe(lists);
  endless.close();
  pages.stop();
});

it.each([200, 400])('a token service that answers %i without end is left after a few megabytes', async (status) => {
  server.answer = { status, start: '<Error>', forever: '<Code>X</Code>' };
  const credentials = { kind: 'webIdentity', roleArn: 'r', tokenService: server.url, token: async () => 't' } as const;
  await expect(assumeRole({ ...storeAt(server.url), credentials }, credentials)).rejects.toMatchObject({
    ...fact,
    message: expect.stringContaining('correct etcd.backup.webIdentity.tokenServiceURL') as unknown,
  });
  expect(server.requests).toBe(1);
  expect(server.sentBytes).toBeLessThan(mostBytes);
});

async function* bytes(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('the database');
}

async function readAll(stream: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of stream) void chunk;
}
