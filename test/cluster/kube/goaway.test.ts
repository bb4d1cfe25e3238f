import { afterEach, beforeEach, expect, test } from 'vitest';
import { ConfigMap } from '../../../constructs/api/resources.ts';
import { KubeClient } from '../../../reconciler/kube/client.ts';
import { connectionFor } from '../../../reconciler/kube/config.ts';
import { FlakyProxy } from '../../support/flaky-proxy.ts';
import { plainApiServer } from '../../support/plain-api-server.ts';
import { until } from '../../support/until.ts';

const namespace = 'default';

// It asks to leave a connection at one of fifty requests: no API server accepts a higher chance.
const server = plainApiServer({ flags: ['--goaway-chance=0.02'] });
let proxy: FlakyProxy;
let client: KubeClient;

beforeEach(async () => {
  proxy = await FlakyProxy.start(server.port);
  client = new KubeClient(connectionFor({ ...server.target, server: `https://127.0.0.1:${proxy.port}` }));
});
afterEach(async () => {
  await client.connection.close();
  await proxy.stop();
});

test('an API server that asks to leave its connections delays no request and ends no watch', async () => {
  const seen: string[] = [];
  let isOver = false;
  const watch = async (): Promise<void> => {
    for await (const event of client.watch(ConfigMap, { namespace, timeoutSeconds: 600 })) {
      if (event.type === 'ADDED' && event.object.metadata.name.startsWith('map-'))
        seen.push(event.object.metadata.name);
    }
  };
  const watching = watch().finally(() => (isOver = true));
  watching.catch(() => {});

  const created: string[] = [];
  const createAndRead = async (): Promise<void> => {
    const metadata = { namespace, name: `map-${created.length}` };
    // An API server answers in milliseconds. A request that waits for the end of the watch fails.
    const options = { fieldManager: 'us', deadlineMs: 10_000 };
    await client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata }, options);
    await client.get(ConfigMap, metadata, options);
    created.push(metadata.name);
  };
  const seesAll = () => until('the watch to see all', () => isOver || seen.length >= created.length);

  await createAndRead();
  // From now on requests share the connection of the watch.
  await seesAll();
  const opened = proxy.accepted;
  while (proxy.accepted < opened + 5) await createAndRead();

  await seesAll();
  expect({ isOver, seen }).toEqual({ isOver: false, seen: created });
});
