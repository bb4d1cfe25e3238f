import { beforeAll, expect, test } from 'vitest';
import { Secret } from '../../../constructs/api/resources.ts';
import { rotations } from '../../../reconciler/rotation/request.ts';
import { splitCertificates } from '../../../reconciler/pki/pem.ts';
import { type SecretObject, valueOf } from '../../../reconciler/pki/secret.ts';
import { cutBehind } from '../../support/cut-connection.ts';
import { operatedNamespace } from '../../support/operated-namespace.ts';
import { until } from '../../support/until.ts';
import { single } from '../../support/workbench.ts';

const namespace = 'rotated';
const cluster = 'c1';

const bench = operatedNamespace(namespace);
beforeAll(async () => {
  await bench.create(cluster, single);
  await bench.untilReady(cluster, 240_000);
});

const secretOf = (name: string) => bench.client.find<SecretObject>(Secret, { namespace, name: `${cluster}-${name}` });
const trusted = async () => splitCertificates(valueOf(await secretOf('proxy'), 'tls.crt') ?? '');
const request = (value: string | null) =>
  bench.patch(cluster, { metadata: { annotations: { [rotations.proxy.annotation]: value } } });

test('a rotation that is cancelled while trust is distributed leaves the CA as it was', async () => {
  const before = await trusted();
  // An operator that lives longer may let the new CA sign, which a withdrawn request does not take back.
  await bench.stopOperator();
  const isDistribution = ({ method, path }: { method: string; path: string }) =>
    method !== 'GET' && path.includes(`/secrets/${cluster}-proxy?`);
  await bench.startOperator(cutBehind(isDistribution).interceptor);
  await request('first');
  await until('trust in two', async () => (await trusted()).length === 2, 120_000);
  await bench.stopOperator();
  await request(null);
  await bench.startOperator();
  await until('no successor to wait any more', async () => !(await secretOf('proxy-next')), 180_000);
  expect(await trusted()).toEqual(before);
  await bench.untilCondition(cluster, 'CARotationReady', { status: 'True' }, 180_000);
});
