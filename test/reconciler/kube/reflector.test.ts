import { expect, it } from 'vitest';
import { DaemonSet } from '../../../constructs/api/resources.ts';
import { KubeError } from '../../../reconciler/kube/errors.ts';
import { Informer } from '../../../reconciler/kube/informer.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';
import { MemoryApiServer } from '../../support/memory-cluster/api-server.ts';
import { MemoryClient } from '../../support/memory-cluster/client.ts';
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
