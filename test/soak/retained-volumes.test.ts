import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { etcdFormedAnnotation } from '../../constructs/api/group.ts';
import { HostedControlPlane, PersistentVolumeClaim, Secret } from '../../constructs/api/resources.ts';
import { selectorString } from '../../constructs/cluster/labels.ts';
import { definedOnly } from '../../constructs/cluster/defined-only.ts';
import { isReady } from '../../reconciler/kube/readiness.ts';
import { type SecretObject, valueOf } from '../../reconciler/pki/secret.ts';
import { longMs } from '../cluster/restore/recoveries.ts';
import { OperatedNamespace } from '../support/operated-namespace.ts';
import { until } from '../support/until.ts';
import { single } from '../support/workbench.ts';
import { lookupFor } from '../tools/testbed/gateway-address.ts';
import { instanceFrom } from '../tools/testbed/instance.ts';

const namespace = 'retained';
const cluster = 'c1';
const sealed = { namespace: 'default', name: 'sealed' };
const spec = (volumeRetention: string) => ({ ...single, etcd: { replicas: 1, volumeRetention } });
let cas: readonly SecretObject[] = [];
const bench = new OperatedNamespace(namespace, { lookup: lookupFor(instanceFrom(process.env, inject('testbed'))) });

beforeAll(() => bench.open());
afterAll(() => bench.close());

const claims = async (): Promise<string[]> => {
  const labelSelector = selectorString(cluster, 'etcd');
  const { items } = await bench.client.list(PersistentVolumeClaim, { namespace, labelSelector });
  return items.map(({ metadata }) => metadata.uid ?? '');
};

/** The content of the Secret in the hosted cluster, whose API servers decrypt it. */
async function unsealed(): Promise<string | undefined> {
  const hosted = await bench.hosted(cluster);
  try {
    const read = () => hosted.find<SecretObject>(Secret, sealed).catch(() => undefined);
    return valueOf(await until('the Secret', read), 'text');
  } finally {
    await hosted.connection.close();
  }
}

/** A Secret as a person saves and creates it again. */
async function savedSecret(suffix: string): Promise<SecretObject> {
  const found = await bench.client.get<SecretObject>(Secret, { namespace, name: `${cluster}-${suffix}` });
  const { apiVersion, kind, metadata, type, data } = found;
  const { name, labels } = metadata;
  return {
    apiVersion,
    kind,
    metadata: { namespace, name, ...definedOnly({ labels }) },
    ...definedOnly({ type, data }),
  };
}

const untilGone = (): Promise<unknown> =>
  until(
    'the HostedControlPlane to be gone',
    async () => (await bench.client.find(HostedControlPlane, { namespace, name: `${cluster}-cp` })) === undefined,
    longMs,
  );

test('a HostedControlPlane for the Cluster of one whose volumes were retained has its data, and decrypts its Secrets', async () => {
  await bench.create(cluster, spec('Retain'));
  await bench.untilReady(cluster);
  const hosted = await bench.hosted(cluster);
  const { apiVersion, kind } = Secret;
  const data = { text: Buffer.from('sealed').toString('base64') };
  await hosted.apply({ apiVersion, kind, metadata: sealed, data }, { fieldManager: 'test' });
  await hosted.connection.close();
  const volumes = await claims();
  expect(volumes).toHaveLength(1);

  await bench.delete(cluster);
  expect(await claims()).toEqual(volumes);
  await bench.create(cluster, spec('Retain'));
  await bench.untilReady(cluster, longMs);
  expect(await unsealed()).toBe('sealed');
  expect(await claims()).toEqual(volumes);
  cas = await Promise.all(['ca', 'etcd', 'proxy', 'sa'].map(savedSecret));
});

test('the volumes of one whose owner reference somebody has removed are deleted with it', async () => {
  await bench.patch(cluster, { spec: { etcd: { volumeRetention: 'Delete' } } });
  await bench.untilSeen(cluster);
  await bench.stopOperator();
  await bench.patch(cluster, { metadata: { ownerReferences: null } });
  await bench.client.delete(HostedControlPlane, { namespace, name: `${cluster}-cp` });
  await bench.startOperator();
  await untilGone();
  expect(await until('no volume of etcd', async () => (await claims()).length === 0, longMs)).toBe(true);
});

test('a HostedControlPlane from a manifest of one whose etcd was formed starts no empty etcd in its place, without its CAs nor with them', async () => {
  const { apiVersion, kind } = HostedControlPlane;
  const annotations = { [etcdFormedAnnotation]: 'f00d' };
  await bench.client.create(
    { apiVersion, kind, metadata: { namespace, name: `${cluster}-cp`, annotations }, spec: spec('Delete') },
    { fieldManager: 'test' },
  );
  await bench.untilCondition(cluster, 'CACertificatesReady', { reason: 'CACertificateMissing' }, longMs);
  for (const secret of cas) await bench.client.create(secret, { fieldManager: 'test' });
  await bench.untilCondition(cluster, 'EtcdClusterHealthy', { reason: 'DataLost' }, longMs);
  await bench.untilCondition(cluster, 'Available', { status: 'False' });
  expect((await bench.pods(cluster, 'etcd')).filter(isReady)).toEqual([]);
});
