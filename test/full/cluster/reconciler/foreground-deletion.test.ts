import type { SecretObject } from '../../../../imports/kubernetes.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  Cluster,
  ConfigMap,
  HostedControlPlane,
  PersistentVolumeClaim,
  Secret,
} from '../../../../constructs/api/resources.ts';
import type { KubeObject } from '../../../../reconciler/kube/object.ts';
import { keptSecrets } from '../../../../reconciler/certificates/kept-secrets.ts';
import { BackupWorkbench, unverifiedBackup } from '../../../support/backup-workbench.ts';
import { until } from '../../../support/until.ts';
import { single } from '../../../support/workbench.ts';

const namespace = 'foreground';
const longMs = 300_000;
const kept = {
  ...single,
  etcd: { ...single.etcd, volumeRetention: 'Retain', backup: { ...unverifiedBackup, beforeDeletion: true } },
};
interface ClusterObject extends KubeObject {
  readonly spec: { readonly controlPlaneEndpoint?: { readonly host: string } };
}

const written = { namespace: 'default', name: 'kept' };

let bench: BackupWorkbench;
beforeAll(async () => {
  bench = await BackupWorkbench.start({ namespace });
});
afterAll(() => bench.close());

async function keys(): Promise<Record<string, unknown>> {
  const { items } = await bench.client.list<SecretObject>(Secret, { namespace });
  const names = keptSecrets('c1');
  const found = items.filter(({ metadata }) => names.includes(metadata.name));
  return Object.fromEntries(found.map(({ metadata, data }) => [metadata.name, data]));
}

async function endpointOfCluster(): Promise<string | undefined> {
  const { spec } = await bench.client.get<ClusterObject>(Cluster, { namespace, name: 'c1' });
  return spec.controlPlaneEndpoint?.host;
}

const claims = async () =>
  (await bench.client.list(PersistentVolumeClaim, { namespace })).items.map(({ metadata }) => metadata.uid);

test('a deletion in the foreground keeps the volumes that it shall keep, with their keys, and takes the last backup', async () => {
  await bench.create('c1', kept);
  await bench.untilReady('c1', longMs);
  const hosted = await bench.hosted('c1');
  const { apiVersion, kind } = ConfigMap;
  await hosted.create({ apiVersion, kind, metadata: written, data: { a: 'b' } }, { fieldManager: 'test' });
  await hosted.connection.close();
  await bench.untilBackup('c1', undefined, longMs);
  // Cluster API copies it beside all this, and not any more once the object is gone.
  await until('the endpoint in the Cluster', endpointOfCluster);
  const before = { keys: await keys(), claims: await claims() };
  expect(Object.keys(before.keys)).toHaveLength(5);

  const name = { namespace, name: 'c1-cp' };
  await bench.client.delete(HostedControlPlane, name, { propagationPolicy: 'Foreground' });
  await until('the object to be gone', async () => !(await bench.client.find(HostedControlPlane, name)), longMs);
  expect(await claims()).toEqual(before.claims);
  expect(await keys()).toEqual(before.keys);
  const { backups } = await bench.backups('c1').list();
  expect(backups).toHaveLength(2);
});

test('another object with the same name continues with what was kept', async () => {
  const loadBalancerIP = await endpointOfCluster();
  // The Cluster has the endpoint still, and no load balancer keeps the address of a Service that is gone.
  await bench.createHostedControlPlane('c1-cp', { ...kept, exposure: { loadBalancer: { loadBalancerIP } } });
  await bench.untilReady('c1', longMs);
  const hosted = await bench.hosted('c1');
  expect(await hosted.get(ConfigMap, written)).toMatchObject({ data: { a: 'b' } });
  await hosted.connection.close();
});
