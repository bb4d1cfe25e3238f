import type { SecretObject } from '../../../../imports/kubernetes.ts';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { Secret } from '../../../../constructs/api/resources.ts';
import { fingerprint } from '../../../../reconciler/pki/pem.ts';
import { pairOf } from '../../../../reconciler/pki/secret.ts';
import { OperatedNamespace } from '../../../support/operated-namespace.ts';
import { until } from '../../../support/until.ts';
import { single } from '../../../support/workbench.ts';

const namespace = 'killed';
const bench = new OperatedNamespace(namespace);
beforeAll(() => bench.make(inject('kubeconfig')));
afterAll(() => bench.close());

const runUntilKilled = (writes: number, isDone: () => Promise<boolean>) =>
  bench.runUntilKilled(writes, isDone, 240_000);
const certificateAuthority = async () =>
  fingerprint(pairOf(await bench.client.find<SecretObject>(Secret, { namespace, name: 'c1-ca' }))?.certificate ?? '');

test('an operator that is killed after its first, second, third, … write is followed by one that continues', async () => {
  await bench.create('c1', single);
  const isReady = async () => (await bench.condition('c1', 'Ready'))?.status === 'True';

  const caCertificates = new Set<string>();
  let kills = 0;
  while (await runUntilKilled(kills + 1, isReady)) {
    kills += 1;
    if (await bench.client.find(Secret, { namespace, name: 'c1-ca' })) caCertificates.add(await certificateAuthority());
  }

  // A new operator applies every object once, except for the four roots and the encryption keys, which are only created: with
  // fewer writes
  // no operator can have completed a reconcile, so every point of a reconcile was hit.
  const objects = (await bench.everything()).filter((object) => !/^(Pod|PersistentVolumeClaim) /.test(object));
  expect(kills).toBeGreaterThanOrEqual(objects.length - 5 - 1);
  expect(caCertificates.size).toBe(1);
  const hosted = await bench.hosted('c1');
  expect(await hosted.raw('/readyz')).toBe('ok');
  await hosted.connection.close();

  const isGone = async () => !(await bench.exists('c1'));
  await bench.beginDeletion('c1');
  for (let writes = 1; await runUntilKilled(writes, isGone); writes += 1);
  await until('Cluster c1 to be gone', isGone);
});
