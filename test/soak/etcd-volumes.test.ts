import type { PodObject, SecretObject } from '../../imports/kubernetes.ts';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ConfigMap, Event, PersistentVolumeClaim, Pod, Secret, StatefulSet } from '../../constructs/api/resources.ts';
import { quantityValue } from '../../constructs/api/quantity.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import { openEtcd } from '../../reconciler/etcd/access.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import type { Reader } from '../../reconciler/clusters/management/view.ts';
import { recordFault } from '../support/fault-table.ts';
import { NumberedConfigMaps } from '../support/numbered-config-maps.ts';
import { operatedNamespace } from '../support/operated-namespace.ts';
import { until } from '../support/until.ts';
import { single } from '../support/workbench.ts';

const namespace = 'etcd-volumes';
const limitMs = 240_000;
const bench = operatedNamespace(namespace);
let hosted: KubeClient;
let made: string[];
beforeAll(async () => {
  await bench.create('c1', { ...single, etcd: { replicas: 1, maxVolumeSize: '32Mi' } });
  await bench.untilReady('c1', limitMs);
  hosted = await bench.hosted('c1');
  made = await identities();
});
afterAll(() => hosted?.connection.close());

interface HostClaim extends KubeObject {
  readonly status?: { readonly capacity?: { readonly storage?: string } };
}

const claim = () => bench.client.get<HostClaim>(PersistentVolumeClaim, { namespace, name: 'etcd-data-c1-etcd-0' });

/** Uids of the objects that must never be recreated. */
async function identities(): Promise<string[]> {
  const set = await bench.client.get(StatefulSet, { namespace, name: 'c1-etcd' });
  return [set, await claim()].map(({ metadata }) => metadata.uid ?? '');
}

/** An event of the control plane, which says what the operator has done. */
async function untilEvent(reason: string): Promise<void> {
  const isIt = (event: KubeObject & { readonly reason?: string }) => event.reason === reason;
  await until(
    `an event ${reason}`,
    async () => (await bench.client.list(Event, { namespace })).items.some(isIt),
    60_000,
  );
}

async function untilVolumeHas(size: string): Promise<void> {
  await until(
    `a volume of ${size}`,
    async () => quantityValue((await claim()).status?.capacity?.storage ?? '0') >= quantityValue(size),
    limitMs,
  );
}

const stored: string[] = [];
let fillers = 0;

/** Stores 400 KiB of incompressible data. */
async function store(): Promise<void> {
  const { apiVersion, kind } = ConfigMap;
  const name = `filler-${fillers++}`;
  const data = { content: randomBytes(300 * 1024).toString('base64') };
  await hosted.create({ apiVersion, kind, metadata: { namespace: 'default', name }, data }, { fieldManager: 'test' });
  stored.push(name);
}

async function fillUntilRefused(): Promise<void> {
  await until('etcd to refuse a write for want of space', () => store().then(() => false, isFull), limitMs);
}

function isFull(error: unknown): boolean {
  return error instanceof Error && error.message.includes('database space exceeded');
}

async function deleteFillers(): Promise<void> {
  for (const name of stored.splice(0)) {
    const deleted = () =>
      hosted.delete(ConfigMap, { namespace: 'default', name }).then(
        () => true,
        () => false,
      );
    await until(`${name} to be deleted`, deleted, limitMs);
  }
}

/** The size in use of the database, as the member reports it. */
async function usedBytes(): Promise<number> {
  const { secrets } = namesOf('c1');
  const read = (name: string) => bench.client.get<SecretObject>(Secret, { namespace, name });
  const found = await Promise.all([secrets.etcdCA, secrets.etcdController].map(read));
  const pod = await bench.client.get<PodObject>(Pod, { namespace, name: 'c1-etcd-0' });
  const management = {
    get: (_: unknown, name: string) => found.find(({ metadata }) => metadata.name === name),
    list: () => [pod],
  } as unknown as Reader;
  const access = openEtcd({ name: 'c1', namespace }, management);
  try {
    const answer = await access.clients('c1-etcd-0')?.status();
    if (!answer) throw new Error('c1-etcd-0 has no address');
    return answer.status.dbSizeInUseBytes;
  } finally {
    access.close();
  }
}

async function untilWritable(): Promise<void> {
  await until(
    'etcd to take writes again',
    () =>
      store().then(
        () => true,
        () => false,
      ),
    limitMs,
  );
}

test('a full etcd whose volume may not grow reports that, and accepts writes again once objects are deleted', async () => {
  await fillUntilRefused();
  const full = performance.now();
  const reported = await until(
    'that it is full, and the remedy, in conditions',
    async () => {
      // The space of old revisions is free again in a moment, and nothing is to be reported then.
      await fillUntilRefused();
      const { conditions } = (await bench.get('c1')).status ?? {};
      const health = conditions?.find(({ type }) => type === 'EtcdClusterHealthy');
      const remedy = conditions?.find(({ type }) => type === 'EtcdClusterReady')?.message ?? '';
      return health?.reason === 'SpaceExhausted' && remedy.includes('maxVolumeSize') && { remedy, health };
    },
    limitMs,
  );
  expect(reported.remedy).toContain('16 MiB');
  expect(reported.health.message).toContain('full');
  const seen = (performance.now() - full) / 1_000;

  const deleting = performance.now();
  await deleteFillers();
  await untilWritable();
  const recoverySeconds = (performance.now() - deleting) / 1_000;
  await bench.untilCondition('c1', 'EtcdClusterHealthy', { status: 'True' }, limitMs);
  await untilEvent('EtcdAlarmDisarm');
  await untilEvent('FragmentationThresholdExceeded');
  expect(await identities()).toEqual(made);
  await recordFault({
    fault: 'etcd filled to its quota (NOSPACE), its volume at the maximum, then objects deleted',
    observed: `SpaceExhausted after ${seen.toFixed(0)} s, with the use, the limit and the remedy; reads go on. After the deletion the provider compacts, defragments and disarms the alarm`,
    recoverySeconds,
    dataLost: 'none',
  });
});

test("a full etcd whose volume may grow accepts writes again without a user's action, on the same volume", async () => {
  await fillUntilRefused();
  const allowed = performance.now();
  await bench.patch('c1', { spec: { etcd: { maxVolumeSize: '256Mi' } } });
  await untilVolumeHas('64Mi');
  await untilWritable();
  const recoverySeconds = (performance.now() - allowed) / 1_000;
  await bench.untilCondition('c1', 'EtcdClusterHealthy', { status: 'True' }, limitMs);
  await untilEvent('RequestedSizeChanged');
  expect(await identities()).toEqual(made);
  await recordFault({
    fault: 'etcd filled to its quota (NOSPACE), then etcd.maxVolumeSize raised',
    observed:
      'the volume grows in place, the quota follows with a restart that the quorum guard allows, and the alarm is disarmed',
    recoverySeconds,
    dataLost: 'none',
  });
});

test('a volume grows before the quota is reached, during writes, and none is refused for lack of space', async () => {
  await bench.untilReady('c1', limitMs);
  const writer = new NumberedConfigMaps({ client: hosted });
  await writer.untilMore(5, limitMs);
  const before = quantityValue((await claim()).status?.capacity?.storage ?? '0');
  // The quota has followed the volume, for which the only member is restarted.
  const isEnough = async () => {
    if ((await usedBytes()) >= 0.35 * before) return true;
    await store();
    return false;
  };
  await until(
    'a third of the volume to be used',
    () =>
      isEnough().catch((error: unknown) => {
        if (isFull(error)) throw error;
        return false;
      }),
    limitMs,
  );
  await untilVolumeHas(String(before + 1));
  await writer.untilMore(20, limitMs);
  await writer.stop();
  expect(
    (await bench.get('c1')).status?.conditions?.find(({ type }) => type === 'EtcdClusterHealthy')?.reason,
  ).not.toBe('SpaceExhausted');
  expect(await until('all that was written', () => writer.lost().catch(() => undefined), limitMs)).toEqual([]);
  expect(await identities()).toEqual(made);
});
