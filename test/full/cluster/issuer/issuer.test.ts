import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CertificateRequest, Cluster, Secret, versionOf } from '../../../../constructs/api/resources.ts';
import { isSignedBy } from '../../../../reconciler/pki/certificate.ts';
import type { CertificateRequestObject } from '../../../../reconciler/certificates/issuer/certificate-request.ts';
import { createCA, issueCertificate, type KeyPair, validFor } from '../../../../reconciler/pki/issue.ts';
import { type SecretObject, valueOf } from '../../../../reconciler/pki/secret.ts';
import {
  caCertificates,
  dayMs,
  issuedBy,
  IssuedControlPlanes,
  waiting,
} from '../../../cluster/issuer/issued-control-planes.ts';
import { type CertManager, createIssuer, startCertManager } from '../../../support/cert-manager.ts';
import { installDefinition } from '../../../support/definitions.ts';
import { operatedNamespace } from '../../../support/operated-namespace.ts';
import { plainApiServer } from '../../../support/plain-api-server.ts';
import { until } from '../../../support/until.ts';
import { single } from '../../../support/workbench.ts';
import { applyObjects } from '../../../tools/testbed/apply-objects.ts';
import { instanceFrom } from '../../../tools/testbed/instance.ts';
import { withLock } from '../../../tools/testbed/lock.ts';
import { certManagerKinds } from '../../../tools/testbed/module-manifests.ts';
import { moduleObjects } from '../../../tools/testbed/rendered-objects.ts';

// CAs are signed before anything runs: an API server is enough.
const namespace = 'issued';
const fieldManager = 'test';

const server = plainApiServer();
const bench = operatedNamespace(namespace, {
  kubeconfig: () => server.kubeconfig,
  async prepare(client) {
    await installDefinition(client, Cluster, { served: [versionOf(Cluster)] });
    const { cache } = instanceFrom(process.env);
    const silent = () => {};
    const kinds = await withLock(join(cache, 'lock'), silent, () => moduleObjects(cache, certManagerKinds, silent));
    await applyObjects(client, kinds);
  },
});
const issued = new IssuedControlPlanes(bench);
let root: KeyPair;
let certManager: CertManager | undefined;

beforeAll(async () => {
  root = await createCA({ commonName: 'company root' }, validFor(20_000 * dayMs, new Date()));
  await createIssuer(bench.client, 'company', root, namespace);
  certManager = await startCertManager({ kubeconfig: server.kubeconfig });
});
afterAll(() => certManager?.stop());

let hosts = 0;

/** Creates a control plane with the owner that Cluster API would set. */
async function create(cluster: string, spec: object): Promise<void> {
  const port = 30443 + 2 * (hosts += 1);
  const nodePort = { address: '192.0.2.10', port, konnectivityPort: port + 1 };
  await bench.create(cluster, { ...single, ...spec, exposure: { nodePort } });
  await bench.nameOwner(cluster);
}

/** Answers a request as an approver and a controller do. */
async function deny(request: CertificateRequestObject, message: string): Promise<void> {
  const lastTransitionTime = new Date().toISOString();
  const conditions = [{ type: 'Denied', status: 'True', reason: 'Policy', message, lastTransitionTime }];
  const options = { fieldManager, subresource: 'status' as const };
  await bench.client.mergePatch(CertificateRequest, request.metadata, { status: { conditions } }, options);
}

test('a ClusterIssuer with an intermediate CA signs the CAs, and these the certificates', async () => {
  const plan = { commonName: 'unused', organizations: [], usages: ['client'], hosts: [] } as const;
  const issuer = await createCA({ commonName: 'company clusters' }, validFor(10_000 * dayMs, new Date()));
  await createIssuer(bench.client, 'platform', issuer);
  await create('c2', issuedBy('platform', 'ClusterIssuer'));
  await bench.untilCondition('c2', 'CertificatesReady', { status: 'True' });
  for (const name of caCertificates('c2')) {
    const { certificate, key } = await issued.pair(name);
    expect(isSignedBy(certificate, issuer.certificate)).toBe(true);
    await expect(issueCertificate(plan, { certificate, key }, validFor(dayMs, new Date()))).resolves.toBeDefined();
  }
});

test('a denied request is reported with its reason, and replaced when it is deleted', async () => {
  await certManager?.stop();
  certManager = await startCertManager({ kubeconfig: server.kubeconfig, approves: false });
  await create('c3', issuedBy('company'));
  await bench.untilCondition('c3', 'CACertificatesReady', waiting);
  const pending = await until('three requests', async () => {
    const found = await issued.requests('c3');
    return found.length === 3 && found;
  });
  for (const request of pending) await deny(request, 'no CAs for team issued');
  await issued.untilMessage('c3', 'was denied: no CAs for team issued; the operator creates a new request at ');
  await certManager.stop();
  certManager = await startCertManager({ kubeconfig: server.kubeconfig });
  for (const { metadata } of await issued.requests('c3')) await bench.client.delete(CertificateRequest, metadata);
  await bench.untilCondition('c3', 'CACertificatesReady', { status: 'True' });
  expect(isSignedBy((await issued.pair('c3-ca')).certificate, root.certificate)).toBe(true);
});

test("while cert-manager's webhook is down no request can be created, which is reported, and the operator recovers without an action", async () => {
  const webhook = webhookThatIsAway();
  await bench.client.apply(webhook.object, { fieldManager, force: true, resource: webhook.resource });
  await create('c4', issuedBy('company'));
  await issued.untilMessage('c4', 'failed calling webhook');
  expect(await issued.requests('c4')).toEqual([]);
  const kept = await until('a key that is kept', () =>
    bench.client.find<SecretObject>(Secret, { namespace, name: 'c4-ca-request' }),
  );
  await bench.client.delete(webhook.resource, webhook.object.metadata);
  await bench.untilCondition('c4', 'CACertificatesReady', { status: 'True' }, 120_000);
  expect((await issued.pair('c4-ca')).key).toBe(valueOf(kept, 'tls.key'));
});

/** cert-manager's webhook as an API server sees it while no pod of it runs. */
function webhookThatIsAway() {
  const [apiVersion, kind] = ['admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration'];
  const rule = {
    apiGroups: ['cert-manager.io'],
    apiVersions: ['*'],
    operations: ['CREATE'],
    resources: ['certificaterequests'],
  };
  const clientConfig = { url: 'https://127.0.0.1:1/validate' };
  const webhooks = [
    {
      name: 'webhook.cert-manager.io',
      rules: [rule],
      clientConfig,
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    },
  ];
  return {
    resource: { apiVersion, kind, plural: 'validatingwebhookconfigurations', namespaced: false },
    object: { apiVersion, kind, metadata: { name: 'cert-manager-webhook' }, webhooks },
  };
}
