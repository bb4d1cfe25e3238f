import { afterAll, beforeAll, expect, it } from 'vitest';
import { Event } from '../../../constructs/api/resources.ts';
import { BackedUpCluster } from '../../support/loop/backed-up-cluster.ts';
import type { StoredObject } from '../../support/memory-objects.ts';
import { ObjectStoreServer } from '../../support/object-store-server.ts';

let bucket: ObjectStoreServer;
let site: BackedUpCluster;

beforeAll(async () => {
  bucket = await ObjectStoreServer.start();
  site = await BackedUpCluster.start(bucket, 'a1', 0);
}, 60_000);
afterAll(async () => {
  await site.operator.stop();
  bucket.stop();
});

const notesOf = (reason: string) =>
  site.cluster.objects
    .list<StoredObject>(Event, {})
    .filter((event) => event['reason'] === reason)
    .map((event) => event['note']);

it('every backup is an Event of its own, and a new operator repeats none', async () => {
  await site.backUp(0);
  expect(notesOf('EtcdBackupFinished')).toHaveLength(1);
  await site.backUp(2);
  expect(notesOf('EtcdBackupFinished')).toHaveLength(2);
  await site.restartOperator();
  await site.operator.untilSettled();
  expect(notesOf('EtcdBackupFinished')).toHaveLength(2);
});

it('volumes that have grown are an Event, once all of them have', async () => {
  const { cluster, operator } = site;
  expect(notesOf('RequestedSizeChanged')).toEqual([]);
  await cluster.change({ etcd: { volumeSize: '8Gi', autoGrow: false } });
  await operator.untilSettled();
  expect(notesOf('RequestedSizeChanged')).toEqual(['all volumes of etcd have grown from 4Gi to 8Gi']);
  await operator.reconcile();
  expect(notesOf('RequestedSizeChanged')).toHaveLength(1);
});
