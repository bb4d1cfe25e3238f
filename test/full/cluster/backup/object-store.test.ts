import { randomBytes } from 'node:crypto';
import { createConnection, createServer, type AddressInfo, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ObjectStore } from '../../../../reconciler/backup/store/object-store.ts';
import { startS3, type S3 } from '../../../support/s3.ts';

let s3: S3;
beforeAll(async () => {
  s3 = await startS3('tls');
});
afterAll(() => s3.stop());

async function* megabytes(count: number): AsyncGenerator<Buffer> {
  const part = randomBytes(1 << 20);
  for (let index = 0; index < count; index += 1) yield part;
}

describe('a slow connection to the store', () => {
  let proxy: Server;
  const bytesPerMs = 4_000;
  beforeAll(async () => {
    const port = Number(new URL(s3.settings.endpoint ?? '').port);
    // One rate limit for all connections, because an upload uses several. It follows the clock, so that a busy machine
    // does not slow it down further.
    let [begun, passed] = [0, 0];
    proxy = createServer((near) => {
      const far = createConnection(port, '127.0.0.1');
      far.pipe(near);
      near.on('data', (bytes) => {
        begun ||= performance.now();
        passed += bytes.length;
        far.write(bytes);
        near.pause();
        setTimeout(() => near.resume(), Math.max(0, begun + passed / bytesPerMs - performance.now()));
      });
      for (const [one, other] of [[near, far] as const, [far, near] as const]) {
        one.on('error', () => other.destroy());
        one.on('close', () => other.destroy());
      }
    });
    await new Promise<void>((resolve) => {
      proxy.listen(0, '127.0.0.1', resolve);
    });
  });
  afterAll(() => {
    proxy.close();
  });

  it('is not a stall: while data flows an upload may take longer than the limit', async () => {
    const { port } = proxy.address() as AddressInfo;
    // at most 10 MiB are in flight, and all may wait in the kernel: three seconds without progress at this rate
    const stallMs = 10_000;
    const slow = new ObjectStore({ ...s3.settings, endpoint: `https://127.0.0.1:${port}` }, { stallMs });
    const start = performance.now();
    expect(await slow.put('slow/snapshot.db', megabytes(44))).toBe(44 << 20);
    expect(performance.now() - start).toBeGreaterThan(stallMs);
    slow.close();
  });
});
