import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { ApiServer } from '../support/api-server.ts';
import { Rendered } from '../support/rendered-cluster.ts';

// By default an API server gives etcd two seconds.
const pausedMs = 3_000;
const checks = 12;

const rendered = Object.entries(new Rendered().flags('c1-api-server', 'kube-apiserver'));
const flags = rendered
  .filter(([name]) => /^etcd-\w+check-timeout$/.test(name))
  .map(([name, value]) => `--${name}=${value}`);
const server = new ApiServer(flags);
afterAll(() => server.stop());

test('an API server is ready at each check while etcd stops for three seconds again and again', async () => {
  await server.start();
  const slow = new AbortController();
  let pauses = 0;
  const slowness = (async () => {
    for (; !slow.signal.aborted; pauses += 1) {
      server.etcd.pause();
      await sleep(pausedMs);
      server.etcd.resume();
      await sleep(50);
    }
  })();
  const answers: string[] = [];
  for (let check = 0; check < checks; check += 1) {
    answers.push(await server.client.raw('/readyz', { deadlineMs: 15_000 }).catch(String));
    // the period of the probe
    await sleep(1_000);
  }
  slow.abort();
  await slowness;
  expect(flags).toHaveLength(2);
  expect(answers).toEqual(Array.from({ length: checks }, () => 'ok'));
  expect(pauses).toBeGreaterThan(2);
});
