import type { SecretObject } from '../../../imports/kubernetes.ts';
import { expect, test } from 'vitest';
import { Secret } from '../../../constructs/api/resources.ts';
import { rotations } from '../../../reconciler/certificates/rotation-request.ts';
import { splitCertificates } from '../../../reconciler/pki/pem.ts';
import { valueOf } from '../../../reconciler/pki/secret.ts';
import { cutBehind } from '../../support/cut-connection.ts';
import { borrow } from '../../support/lent/borrow.ts';
import { until } from '../../support/until.ts';

const cluster = 'c1';
// Each change of trust restarts the API server.
const bench = borrow('plain', { restartsPods: true });

const secretOf = (name: string) =>
  bench.client.find<SecretObject>(Secret, { namespace: bench.namespace, name: `${cluster}-${name}` });
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
