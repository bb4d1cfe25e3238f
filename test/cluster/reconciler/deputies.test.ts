import { expect, test } from 'vitest';
import { ConfigMap, Deployment, HostedControlPlane, Pod, Secret } from '../../../constructs/api/resources.ts';
import { objectLabels } from '../../../constructs/cluster/labels.ts';
import { releaseOf } from '../../../constructs/cluster/release-revisions.ts';
import { ownerReference } from '../../../constructs/control-plane/chart.ts';
import { encodedData } from '../../../reconciler/pki/secret.ts';
import { borrow } from '../../support/lent/borrow.ts';
import { CountingServer } from '../../support/counting-server.ts';

const fieldManager = 'somebody-else';
const bench = borrow('plain');
const { namespace } = bench;

/** Every pod by its uid. */
async function pods(): Promise<string[]> {
  const { items } = await bench.client.list(Pod, { namespace });
  return items.map(({ metadata }) => `${metadata.name} ${metadata.uid}`).toSorted();
}

test('a forged record of an accepted spec is not reconciled, also while the spec is refused', async () => {
  const { metadata } = await bench.client.get(HostedControlPlane, { namespace, name: 'c1-cp' });
  const { name, uid = '' } = metadata;
  const before = await pods();
  const image = { registry: 'evil.example.org', repository: 'shell', tag: '1' };
  const spec = { version: 'v1.36.3', exposure: { loadBalancer: {} }, deployment: { scheduler: { image } } };
  const forged = { namespace, name: 'c1-revision-1000' };
  await bench.client.create(
    {
      apiVersion: ConfigMap.apiVersion,
      kind: ConfigMap.kind,
      metadata: { ...forged, labels: objectLabels('c1', 'revision'), ownerReferences: [ownerReference({ name, uid })] },
      data: {
        generation: '1',
        'spec.json': JSON.stringify(spec),
        'release.json': JSON.stringify(releaseOf(36)),
        served: 'true',
      },
    },
    { fieldManager },
  );
  await bench.patch('c1', { spec: { componentTemplateRef: { name: 'does-not-exist' } } });
  const accepted = await bench.untilCondition('c1', 'SpecAccepted', { reason: 'InvalidConfiguration' });
  expect(accepted.message).toContain('until you correct it, the operator reconciles the last accepted spec');
  await bench.untilSeen('c1');
  const scheduler = await bench.client.get(Deployment, { namespace, name: 'c1-scheduler' });
  expect(JSON.stringify(scheduler)).not.toContain('evil.example.org');
  expect(await pods()).toEqual(before);
  await bench.client.delete(ConfigMap, forged);
  await bench.undo();
});

test('the token of a Secret that names no receiver goes nowhere, and the condition says what to add', async () => {
  const service = await CountingServer.start();
  const secret = { namespace, name: 'of-somebody' };
  const data = encodedData({ token: 'token-of-somebody' });
  await bench.client.create(
    { apiVersion: Secret.apiVersion, kind: Secret.kind, metadata: secret, data },
    { fieldManager },
  );
  const before = await pods();
  const target = {
    server: `https://127.0.0.1:${service.port}/`,
    authentication: { secretName: secret.name, tokenKey: 'token' },
  };
  const audit = { policy: { rules: [{ level: 'Metadata' }] }, webhook: { targets: [target] } };
  await bench.patch('c1', { spec: { deployment: { apiServer: { audit } } } });
  const { message } = await bench.untilCondition('c1', 'AuditReady', { reason: 'AuditSecretInvalid' });
  expect(message).toContain(
    `add 127.0.0.1:${service.port} to its annotation controlplane.cluster.x-k8s.io/audit-receivers`,
  );
  expect(message).not.toContain('token-of-somebody');
  await bench.untilSeen('c1');
  expect(await bench.client.find(Secret, { namespace, name: 'c1-audit-tokens' })).toBeUndefined();
  expect((await pods()).filter((pod) => !pod.startsWith('c1-api-server-check'))).toEqual(before);
  expect(service.connections).toBe(0);
  await bench.undo();
  await bench.client.delete(Secret, secret);
  await service.stop();
});
