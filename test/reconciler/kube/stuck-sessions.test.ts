import { stat } from 'node:fs';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ConfigMap } from '../../../constructs/api/resources.ts';
import { KubeClient } from '../../../reconciler/kube/client.ts';
import { connectionFor } from '../../../reconciler/kube/config.ts';
import { settled } from '../../support/manual-clock.ts';
import { type ResettingServer, startResettingServer } from '../../support/resetting-server.ts';
import { until } from '../../support/until.ts';

let server: ResettingServer;
let client: KubeClient;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  server = await startResettingServer();
  client = new KubeClient(connectionFor(server.target));
});
afterEach(async () => {
  vi.useRealTimers();
  await client.close();
  await server.stop();
});

/** A watch that receives events, and how it ends. */
function openWatch() {
  const seen = { events: 0, end: undefined as unknown };
  void (async () => {
    for await (const _ of client.watch(ConfigMap, { timeoutSeconds: 1500 })) seen.events += 1;
  })().catch((error: unknown) => (seen.end = error));
  return seen;
}

function beBusy(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

/** A watch whose connection is stuck. If Node is about to read from it when it is reset, it is not. */
async function stuckWatch() {
  for (let attempts = 0; attempts < 20; attempts++) {
    const watch = openWatch();
    await until('events', () => watch.events > 0);
    await new Promise<void>((resolve) => {
      // Between two looks at the connection: the events, and then the end, arrive meanwhile.
      stat('/', () => {
        beBusy(50);
        server.reset();
        client.get(ConfigMap, { namespace: 'default', name: 'map' }, { deadlineMs: 60_000 }).catch(() => {});
        resolve();
      });
    });
    // What Node sees of it, it sees now.
    for (let looks = 0; looks < 20; looks++) await settled();
    if (watch.end === undefined) return watch;
  }
  throw new Error('no connection of 20 was stuck: if Node finishes each write now, delete stuck-sessions.ts');
}

it('a watch ends soon after its server was killed, although the client had data to read and wrote first', async () => {
  const watch = await stuckWatch();
  let seconds = 0;
  for (; watch.end === undefined && seconds < 60; seconds += 3) {
    vi.advanceTimersByTime(3_000);
    for (let turns = 0; turns < 5; turns++) await settled();
  }
  expect(String(watch.end)).toContain('the connection is dead: it has sent nothing for 9 s');
  // An idle connection gets something that waits first.
  expect(seconds).toBeLessThanOrEqual(24);
});
