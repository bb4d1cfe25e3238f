import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ObjectStore } from '../../../reconciler/backup/store/object-store.ts';
import { ObjectStoreServer } from '../../support/object-store-server.ts';

let server: ObjectStoreServer;
let store: ObjectStore;
beforeEach(async () => {
  server = await ObjectStoreServer.start();
  server.isLocked = true;
  store = new ObjectStore(server.settings);
});
afterEach(() => {
  store.close();
  server.stop();
});

describe('a bucket with Object Lock', () => {
  it('takes small objects, and claims', async () => {
    await store.putText('a/manifest.json', '{}');
    expect(await store.createText('a/claim.json', '{"uid":"x"}')).toBe('written');
    expect(await store.getText('a/manifest.json')).toBe('{}');
  });

  it.each([1, 6 << 20])('takes a stream of %i bytes, in parts if it is long', async (bytes) => {
    const content = Buffer.alloc(bytes, 'x');
    async function* stream(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < bytes; at += 1 << 20) yield content.subarray(at, at + (1 << 20));
    }
    expect(await store.put('a/snapshot.db', stream())).toBe(bytes);
    expect(server.objects.get('a/snapshot.db')?.length).toBe(bytes);
  });
});
