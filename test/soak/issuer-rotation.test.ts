import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { CertificateRequest, Secret } from '../../constructs/api/resources.ts';
import { isSignedBy } from '../../reconciler/pki/certificate.ts';
import { createCA, type KeyPair, validFor } from '../../reconciler/pki/issue.ts';
import { splitCertificates } from '../../reconciler/pki/pem.ts';
import { pairOf, type SecretObject } from '../../reconciler/pki/secret.ts';
import { type CertManager, createIssuer, startCertManager } from '../support/cert-manager.ts';
import { operatedNamespace } from '../support/operated-namespace.ts';
import { until } from '../support/until.ts';
import { single } from '../support/workbench.ts';
import { installAddon } from '../tools/testbed/addons.ts';
import { instanceFrom } from '../tools/testbed/instance.ts';

const namespace = 'toissuer';
const dayMs = 24 * 3_600_000;
/** Kubelets update a changed Secret in a pod within a minute and a half, three times. */
const rotationMs = 15 * 60_000;

let certManager: CertManager;
let root: KeyPair;

beforeAll(async () => {
  root = await createCA({ commonName: 'company root' }, validFor(20_000 * dayMs, new Date()));
  await installAddon(instanceFrom(process.env, inject('testbed')), 'cert-manager-crds', () => {});
  certManager = await startCertManager({ kubeconfig: inject('kubeconfig') });
});
const bench = operatedNamespace(namespace);
afterAll(async () => {
  await bench.deleteAll();
  await certManager.stop();
});

async function certificateAuthority(name: string): Promise<string> {
  return pairOf(await bench.client.get<SecretObject>(Secret, { namespace, name }))?.certificate ?? '';
}

test(
  'an issuerRef changes nothing of a control plane until its CA is rotated, and then the issuer signs the successor',
  async () => {
    await bench.create('c1', single);
    await bench.untilReady('c1', 240_000);
    const before = await certificateAuthority('c1-ca');
    await bench.patch('c1', { spec: { certificates: { issuerRef: { name: 'company' } } } });
    const { metadata } = await bench.get('c1');
    await until(
      'the change to be seen',
      async () => (await bench.get('c1')).status?.observedGeneration === metadata.generation,
    );
    expect((await bench.client.list(CertificateRequest, { namespace })).items).toEqual([]);
    expect(await certificateAuthority('c1-ca')).toBe(before);

    await bench.patch('c1', { spec: { certificates: { rotation: { clusterCA: 'to the issuer' } } } });
    const condition = await bench.untilCondition('c1', 'CARotationReady', {
      status: 'False',
      reason: 'WaitingForIssuer',
    });
    expect(condition.message).toContain('c1-ca-next');
    await createIssuer(bench.client, 'company', root, namespace);
    await bench.untilCondition('c1', 'CARotationReady', { status: 'True' }, rotationMs);
    const after = await certificateAuthority('c1-ca');
    expect(splitCertificates(after)).toHaveLength(1);
    expect(isSignedBy(after, root.certificate)).toBe(true);
    await expect(bench.client.find(Secret, { namespace, name: 'c1-ca-next-request' })).resolves.toBeUndefined();
    expect((await bench.client.list(CertificateRequest, { namespace })).items).toEqual([]);

    const hosted = await bench.hosted('c1');
    try {
      expect(await hosted.raw('/readyz')).toBe('ok');
    } finally {
      await hosted.connection.close();
    }
  },
  2 * rotationMs,
);
