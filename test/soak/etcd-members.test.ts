import type { SecretObject } from '../../imports/kubernetes.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PersistentVolume, PersistentVolumeClaim, Secret } from '../../constructs/api/resources.ts';
import { selectorLabels } from '../../constructs/cluster/labels.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import { splitCertificates } from '../../reconciler/pki/pem.ts';
import { valueOf } from '../../reconciler/pki/secret.ts';
import { EtcdPods } from '../cluster/etcd-pods/etcd-pods.ts';
import { recordFault } from '../support/fault-table.ts';
import { operatedNamespace } from '../support/operated-namespace.ts';
import { until } from '../support/until.ts';
import { whileWriting } from '../support/while-writing.ts';
import { single } from '../support/workbench.ts';

const namespace = 'more-etcd-members';
const bench = operatedNamespace(namespace);
let hosted: KubeClient;
const etcd = () => new EtcdPods(bench, 'c1');
beforeAll(async () => {
  await bench.create('c1', single);
  await bench.untilReady('c1', 180_000);
  hosted = await bench.hosted('c1');
});
afterAll(() => hosted?.connection.close());

const replicas = (count: number) => bench.patch('c1', { spec: { etcd: { replicas: count } } });

test('1 member becomes 3, 5 and 3 again during writes, and no acknowledged write is lost', async () => {
  const { stallMs, lost } = await whileWriting(hosted, async () => {
    for (const count of [3, 5, 3]) {
      await replicas(count);
      await etcd().untilMembers(count, 180_000);
    }
    await until('the volumes of those that left to be gone', async () => (await etcd().claims()).length === 3, 60_000);
  });
  expect(lost).toEqual([]);
  await recordFault({
    fault: 'etcd from 1 to 3 to 5 to 3 members',
    observed: `ChangingMembers names who joins and leaves; longest stall of a write ${(stallMs / 1000).toFixed(1)} s`,
    recoverySeconds: undefined,
    dataLost: 'none',
  });
});

describe('of 3 members', () => {
  test('one whose log is damaged on its disk is rebuilt, and no acknowledged write is lost', async () => {
    const name = await etcd().follower();
    const { seconds, stallMs, lost } = await whileWriting(hosted, () =>
      etcd().untilReplaced(name, () => etcd().damageLog(name)),
    );
    expect(lost).toEqual([]);
    await recordFault({
      fault: 'a byte of the write-ahead log of one of three etcd members changed on its disk, and it is killed',
      observed: `etcd refuses to start; the kubelet keeps its message, because of which the provider removes the member and adds it again; longest stall of a write ${(stallMs / 1000).toFixed(1)} s`,
      recoverySeconds: seconds,
      dataLost: 'none',
    });
  });

  test('a follower may be killed, and no acknowledged write is lost', async () => {
    const { seconds, stallMs, lost } = await whileWriting(hosted, async () => {
      const name = await etcd().follower();
      const before = await etcd().restarts(name);
      await etcd().kill(name);
      await etcd().untilRestarted(name, before);
      await etcd().untilMembers(3);
    });
    expect(lost).toEqual([]);
    await recordFault({
      fault: 'kill -9 of a follower of three etcd members',
      observed: `the kubelet restarts it; longest stall of a write ${(stallMs / 1000).toFixed(1)} s`,
      recoverySeconds: seconds,
      dataLost: 'none',
    });
  });

  test('their CA is rotated while they write, and each of them always reaches the others', async () => {
    const ca = async () =>
      valueOf(await bench.client.find<SecretObject>(Secret, { namespace, name: 'c1-etcd' }), 'tls.crt');
    const before = await ca();
    const rotationMs = 25 * 60_000;
    const { stallMs, lost } = await whileWriting(hosted, async () => {
      await bench.patch('c1', { spec: { certificates: { rotation: { etcdCA: 'one' } } } });
      await bench.untilCondition('c1', 'CARotationReady', { status: 'False' });
      await bench.untilCondition('c1', 'CARotationReady', { status: 'True' }, rotationMs);
    });
    expect(lost).toEqual([]);
    expect(splitCertificates((await ca()) ?? '')).toHaveLength(1);
    expect(await ca()).not.toBe(before);
    await etcd().untilMembers(3);
    await recordFault({
      fault: 'the CA of three etcd members rotated during writes',
      observed: `each member restarts three times, one after the other; longest stall of a write ${(stallMs / 1000).toFixed(1)} s`,
      recoverySeconds: undefined,
      dataLost: 'none',
    });
  });

  test('one whose volume is on a removed node gets another volume', async () => {
    const { apiVersion } = PersistentVolume;
    const name = 'etcd-data-c1-etcd-3';
    const claimed = { accessModes: ['ReadWriteOnce'], storageClassName: 'standard' };
    const host = { key: 'kubernetes.io/hostname', operator: 'In', values: ['gone'] };
    const volume = {
      apiVersion,
      kind: PersistentVolume.kind,
      metadata: { name: 'on-a-node-that-is-gone' },
      spec: {
        ...claimed,
        capacity: { storage: '16Gi' },
        claimRef: { namespace, name },
        local: { path: '/gone' },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [host] }] } },
        persistentVolumeReclaimPolicy: 'Retain',
      },
    };
    const claim = {
      apiVersion,
      kind: PersistentVolumeClaim.kind,
      metadata: { namespace, name, labels: selectorLabels('c1', 'etcd') },
      spec: { ...claimed, volumeName: volume.metadata.name, resources: { requests: { storage: '4Gi' } } },
    };
    const created = await bench.client.create(volume, { fieldManager: 'test' });
    try {
      const { metadata } = await bench.client.create(claim, { fieldManager: 'test' });
      await replicas(5);
      await etcd().untilMembers(5, 180_000);
      expect((await bench.client.get(PersistentVolumeClaim, { namespace, name })).metadata.uid).not.toBe(metadata.uid);
      await replicas(3);
      await etcd().untilMembers(3, 180_000);
    } finally {
      await bench.client.delete(PersistentVolume, { name: created.metadata.name });
    }
  });
});
