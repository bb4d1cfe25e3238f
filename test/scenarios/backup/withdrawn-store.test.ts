import { afterAll, beforeAll, expect, it } from 'vitest';
import { Namespace, Secret } from '../../../constructs/api/resources.ts';
import { storeSecret } from '../../support/backup-secrets.ts';
import { MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { settleBy, smallestSpec } from '../../support/loop/scenario.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { ObjectStoreServer } from '../../support/object-store-server.ts';
import { namespace, now } from '../../support/scope.ts';

const place = { namespace: 'platform', name: 'etcd-backup' };
const access = 'controlplane.cluster.x-k8s.io/backup-access';
/** Half a day after the start of the test. */
const daily = '0 0 * * *';
const fieldManager = 'platform';
let bucket: ObjectStoreServer;
let cluster: MemoryCluster;
let operator: OperatorProcess;

const grant = (namespaces: string) =>
  cluster.user.mergePatch(Secret, place, { metadata: { annotations: { [access]: namespaces } } }, { fieldManager });
const condition = () => cluster.conditions.find(({ type }) => type === 'EtcdBackupReady');

/** Lets time pass, and reconciles until the condition has this status: requests to the bucket take real time. */
async function after(minutes: number, status: 'True' | 'False'): Promise<void> {
  await cluster.clock.advance(minutes * 60_000);
  await operator.reconcileUntil(`EtcdBackupReady to be ${status}`, () => condition()?.status === status);
}

beforeAll(async () => {
  bucket = await ObjectStoreServer.start();
  cluster = new MemoryCluster(new ManualClock(now.getTime()));
  await cluster.install();
  await cluster.order(smallestSpec);
  await settleBy(cluster);
  const { apiVersion, kind } = Namespace;
  await cluster.user.create({ apiVersion, kind, metadata: { name: place.namespace } }, { fieldManager });
  await cluster.user.create(storeSecret(place, bucket.settings), { fieldManager });
  await grant(`other,${namespace}`);
  const backup = { schedule: daily, secret: place, verify: { disabled: true } };
  await cluster.change({ etcd: { replicas: 1, backup } });
  operator = await OperatorProcess.start(cluster);
  await operator.reconcileUntil('the first backup', () =>
    [...bucket.objects.keys()].some((key) => key.endsWith('/manifest.json')),
  );
}, 60_000);
afterAll(async () => {
  await operator.stop();
  bucket.stop();
});

it('a Secret that is withdrawn from a namespace is reported within an hour, and again usable within a minute', async () => {
  await after(0, 'True');
  const taken = bucket.objects.size;
  await grant('other');
  await after(61, 'False');
  expect(condition()).toMatchObject({ reason: 'BackupSecretInvalid' });
  expect(condition()?.message).toContain(
    `Secret platform/etcd-backup does not exist or does not let namespace ${namespace} use it: ask its owner to create it with the annotation ${access}: ${namespace}, or to add ${namespace} to that list`,
  );
  await grant(`other,${namespace}`);
  await after(2, 'True');
  expect(bucket.objects.size).toBe(taken);
});
