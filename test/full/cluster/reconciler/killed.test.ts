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

const runUntilItWrites = (isDone: () => Promise<boolean>) => bench.runUntilKilled(1, isDone, 240_000);
const certificateAuthority = async () =>
  fingerprint(pairOf(await bench.client.find<SecretObject>(Secret, { namespace, name: 'c1-ca' }))?.certificate ?? '');

test('an operator that is killed after each of its writes is followed by one that continues', async () => {
  await bench.create('c1', single);
  const isReady = async () => (await bench.condition('c1', 'Ready'))?.status === 'True';

  const caCertificates = new Set<string>();
  let kills = 0;
  while (await runUntilItWrites(isReady)) {
    kills += 1;
    if (await bench.client.find(Secret, { namespace, name: 'c1-ca' })) caCertificates.add(await certificateAuthority());
  }

  // A new operator writes nothing that is as it would write it: each of these objects was the only write of an operator.
  const objects = (await bench.everything()).filter((object) => !/^(Pod|PersistentVolumeClaim) /.test(object));
  expect(kills).toBeGreaterThanOrEqual(objects.length);
  expect(caCertificates.size).toBe(1);
  const hosted = await bench.hosted('c1');
  expect(await hosted.raw('/readyz')).toBe('ok');
  await hosted.connection.close();

  const isGone = async () => !(await bench.exists('c1'));
  await bench.beginDeletion('c1');
  while (await runUntilItWrites(isGone));
  await until('Cluster c1 to be gone', isGone);
});
