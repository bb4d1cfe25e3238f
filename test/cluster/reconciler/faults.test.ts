import type { SecretObject } from '../../../imports/kubernetes.ts';
import { expect, test } from 'vitest';
import { ConfigMap, Event, Pod, type Resource, Secret, StatefulSet } from '../../../constructs/api/resources.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { borrow } from '../../support/lent/borrow.ts';
import { loseSecret } from '../../support/lost-secret.ts';
import { until } from '../../support/until.ts';

const fieldManager = 'somebody-else';
const bench = borrow('plain', { restartsPods: true });
const { namespace } = bench;

const named = (name: string) => ({ namespace, name });

test('a deleted Secret with keys is in its place again, with its content', async () => {
  const read = () => bench.client.find<SecretObject>(Secret, named('c1-sa'));
  const before = await read();
  await bench.client.delete(Secret, named('c1-sa'));
  const after = await until('another Secret', async () => {
    const found = await read();
    return found?.metadata.uid === before?.metadata.uid ? undefined : found;
  });
  expect(after.data).toEqual(before?.data);
  expect(after.metadata.deletionTimestamp).toBeUndefined();
  await until('no copy', async () => !(await bench.client.find(Secret, named('c1-sa-copy'))));
  await bench.untilReady('c1');
});

test('a lost CA certificate blocks the reconcile and is not replaced; when it is restored, the reconcile continues', async () => {
  const lost = await bench.client.get<SecretObject>(Secret, named('c1-ca'));
  await loseSecret(bench, 'c1', 'c1-ca');
  const { message } = await bench.untilCondition('c1', 'CACertificatesReady', { reason: 'CACertificateMissing' });
  expect(message).toContain('restore it from a backup');
  await bench.untilCondition('c1', 'CertificatesAvailable', { status: 'False' });
  // Nothing is deleted because of it.
  expect((await bench.get('c1')).status?.readyReplicas).toBe(1);

  // With its owner: the operator deletes no Secret that is not of its control plane.
  const { name, labels = {}, ownerReferences = [], finalizers = [] } = lost.metadata;
  const metadata = { namespace, name, labels, ownerReferences, finalizers };
  await bench.client.create({ ...lost, metadata }, { fieldManager });
  await bench.untilReady('c1');
});

test('a deleted workload is recreated with its data', async () => {
  const hosted = await bench.hosted('c1');
  const written = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'kept' }, data: {} };
  await until('a write', () => hosted.apply(written, { fieldManager, force: true }).catch(() => undefined));
  const uidOf = async (kind: Resource, name: string) =>
    (await bench.client.find(kind, named(name)))?.metadata.uid ?? 'none';
  const before = { set: await uidOf(StatefulSet, 'c1-etcd'), pod: await uidOf(Pod, 'c1-etcd-0') };
  await bench.client.delete(StatefulSet, named('c1-etcd'), { propagationPolicy: 'Background' });
  await bench.client.delete(Pod, named('c1-etcd-0'));
  // By uid, not by a condition: between two observations etcd may have gone and come back.
  for (const [kind, name, old] of [
    [StatefulSet, 'c1-etcd', before.set] as const,
    [Pod, 'c1-etcd-0', before.pod] as const,
  ]) {
    await until(`another ${kind.kind}`, async () => ![old, 'none'].includes(await uidOf(kind, name)), 180_000);
  }
  await bench.untilReady('c1');
  const kept = await until(
    'the API server to answer',
    () => hosted.raw('/api/v1/namespaces/default/configmaps/kept').catch(() => undefined),
    180_000,
  );
  expect(kept).toContain('"name":"kept"');
  await hosted.delete(ConfigMap, written.metadata);
  await hosted.connection.close();
});

test('a component that does not start is reported with what it says, and with a Warning', async () => {
  const argument = (value: string | null) => ({
    spec: { deployment: { scheduler: { args: { 'no-such-flag': value } } } },
  });
  await bench.patch('c1', argument('x'));
  // By its message: when etcd was away, in the test before, the scheduler may have ended too.
  const message = /pod c1-scheduler-\S+: container \S+ ended with exit code 1: .*unknown flag: --no-such-flag/;
  await bench.untilCondition('c1', 'SchedulerReady', { reason: 'PodsFailing', message });
  expect((await bench.condition('c1', 'Ready'))?.reason).toBe('PodsFailing');
  await until('the event', async () => {
    const { items } = await bench.client.list<KubeObject & { type?: string; reason?: string }>(Event, { namespace });
    return items.some(({ type, reason }) => type === 'Warning' && reason === 'PodsFailing');
  });
  await bench.undo();
  await bench.untilReady('c1');
});
