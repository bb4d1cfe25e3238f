import type { SecretObject } from '../../../../imports/kubernetes.ts';
import { afterAll, expect, test } from 'vitest';
import { Deployment, Pod, PodDisruptionBudget, Secret } from '../../../../constructs/api/resources.ts';
import type { KubeObject, ObjectMeta } from '../../../../reconciler/kube/object.ts';
import { fingerprint } from '../../../../reconciler/pki/pem.ts';
import { pairOf } from '../../../../reconciler/pki/secret.ts';
import { borrow } from '../../../support/lent/borrow.ts';
import { until } from '../../../support/until.ts';

const fieldManager = 'somebody-else';
const bench = borrow('plain', { restartsPods: true });
const { namespace } = bench;
afterAll(() => bench.undo());

const named = (name: string) => ({ namespace, name });
const secret = (name: string) => bench.client.find<SecretObject>(Secret, named(name));

test('a deleted certificate is reissued', async () => {
  const before = pairOf(await secret('c1-scheduler'))?.certificate ?? '';
  const after = await until('another certificate', async () => {
    const pair = pairOf(await secret('c1-scheduler'));
    if (pair && fingerprint(pair.certificate) !== fingerprint(before)) return pair;
    // A reconcile that has read the Secret before its deletion puts the same one back: the operator has just started.
    if (pair) await bench.client.delete(Secret, named('c1-scheduler'));
    return undefined;
  });
  await bench.untilReady('c1');
  expect(pairOf(await secret('c1-scheduler'))?.certificate).toBe(after.certificate);
});

test('a manual change of what it renders is reverted; fields that others add stay, also in a pod template', async () => {
  const name = named('c1-api-server');
  // As `kubectl rollout restart` sets it: the pods run with what others add, and the operator does not take it away.
  const restarted = { 'kubectl.kubernetes.io/restartedAt': '2026-01-01T00:00:00Z' };
  await bench.client.mergePatch(
    Deployment,
    name,
    {
      metadata: { annotations: { theirs: 'stays' } },
      spec: { replicas: 2, template: { metadata: { annotations: restarted } } },
    },
    { fieldManager },
  );
  interface Edited extends KubeObject {
    readonly spec: { readonly replicas: number; readonly template: { readonly metadata: ObjectMeta } };
  }
  const reverted = await until('the replicas to be put right', async () => {
    const live = await bench.client.get<Edited>(Deployment, name);
    return live.spec.replicas === 1 ? live : undefined;
  });
  expect(reverted.metadata.annotations?.['theirs']).toBe('stays');
  expect(reverted.spec.template.metadata.annotations).toMatchObject(restarted);
  await until('pods with the annotation', async () => {
    const { items } = await bench.client.list(Pod, { namespace });
    const pods = items.filter(({ metadata }) => metadata.name.startsWith('c1-api-server-'));
    return pods.length === 1 && pods[0]!.metadata.annotations?.['kubectl.kubernetes.io/restartedAt'] !== undefined;
  });
  await bench.untilReady('c1');
});

test('scaling up and down is applied, and a disruption budget for one pod is deleted', async () => {
  const budget = () => bench.client.find(PodDisruptionBudget, named('c1-api-server'));
  await bench.patch('c1', { spec: { replicas: 2 } });
  await until('the second API server', async () => (await bench.get('c1')).status?.readyReplicas === 2, 180_000);
  await bench.untilReady('c1');
  expect(await budget()).toBeDefined();

  await bench.patch('c1', { spec: { replicas: 1 } });
  await until('the budget to be gone', async () => !(await budget()));
  await until('one API server', async () => (await bench.get('c1')).status?.replicas === 1);
  await bench.untilReady('c1');
});

test('an image that cannot be pulled is reported', async () => {
  const image = (tag: string | null) => ({ spec: { deployment: { scheduler: { image: { tag } } } } });
  await bench.patch('c1', image('v0.0.1-missing'));
  const message = /v0\.0\.1-missing/;
  const found = await bench.untilCondition('c1', 'SchedulerReady', { reason: 'PodsFailing', message });
  expect(found.status).toBe('False');
  await bench.patch('c1', image(null));
  await bench.untilReady('c1');
});

test('another manager that insists is reported, and causes at most five writes in twenty seconds', async () => {
  const force = async (replicas: number) => {
    const { apiVersion, kind } = Deployment;
    const object = { apiVersion, kind, metadata: named('c1-scheduler'), spec: { replicas } };
    await bench.client.apply(object, { fieldManager, force: true });
  };
  let forced = 0;
  const fight = setInterval(
    () =>
      void force(3).then(
        () => (forced += 1),
        () => {},
      ),
    50,
  );
  // Each change and each revert is a generation.
  const generation = async () => (await bench.client.get(Deployment, named('c1-scheduler'))).metadata.generation ?? 0;
  const [before, begun] = [await generation(), performance.now()];
  try {
    const message = /Deployment lent-plain\/c1-scheduler.*metadata\.managedFields/;
    await bench.untilCondition('c1', 'SchedulerReady', { reason: 'ObjectContested', message });
    const reported = forced;
    await until(
      'the other one to insist',
      () => forced > reported + 100,
      undefined,
      () => forced,
    );
    const windows = 1 + Math.floor((performance.now() - begun) / 20_000);
    expect((await generation()) - before).toBeLessThanOrEqual(windows * 2 * 5 + 1);
  } finally {
    clearInterval(fight);
  }
  await bench.untilReady('c1', 120_000);
});
