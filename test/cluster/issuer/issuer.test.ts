import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import {
  CertificateRequest,
  CustomResourceDefinition,
  definitionName,
  Secret,
} from '../../../constructs/api/resources.ts';
import { ports } from '../../../constructs/cluster/ports.ts';
import { createCA, issueCertificate, type KeyPair, validFor } from '../../../reconciler/pki/issue.ts';
import type { CertificateRequestObject } from '../../../reconciler/pki/issuer/certificate-request.ts';
import { isSignedBy } from '../../../reconciler/pki/certificate.ts';
import { pairOf, type SecretObject, valueOf } from '../../../reconciler/pki/secret.ts';
import { type CertManager, createIssuer, startCertManager } from '../../support/cert-manager.ts';
import { recordFault } from '../../support/fault-table.ts';
import { operatedNamespace } from '../../support/operated-namespace.ts';
import { until } from '../../support/until.ts';
import { single } from '../../support/workbench.ts';
import { installAddon } from '../../testbed/addons.ts';
import { instanceFrom } from '../../testbed/instance.ts';
import { requestTo } from './foreign-issuer.ts';

const namespace = 'issued';
const fieldManager = 'test';
const dayMs = 24 * 3_600_000;
const caCertificates = (cluster: string) => ['ca', 'etcd', 'proxy'].map((name) => `${cluster}-${name}`);

const bench = operatedNamespace(namespace, {
  prepare: (client) => client.delete(CustomResourceDefinition, { name: definitionName(CertificateRequest) }),
});
let root: KeyPair;
let certManager: CertManager | undefined;

beforeAll(async () => {
  root = await createCA({ commonName: 'company root' }, validFor(20_000 * dayMs, new Date()));
});
afterAll(() => certManager?.stop());

const specWith = (name: string, kind = 'Issuer') => ({ ...single, certificates: { issuerRef: { name, kind } } });
const waiting = { status: 'False', reason: 'WaitingForIssuer' } as const;

async function requests(cluster: string): Promise<CertificateRequestObject[]> {
  const labelSelector = `cluster.x-k8s.io/cluster-name=${cluster}`;
  return (await bench.client.list<CertificateRequestObject>(CertificateRequest, { namespace, labelSelector })).items;
}

async function pair(name: string): Promise<KeyPair> {
  const found = pairOf(await bench.client.get<SecretObject>(Secret, { namespace, name }));
  if (!found) throw new Error(`Secret ${name} holds no pair`);
  return found;
}

async function untilMessage(cluster: string, text: string): Promise<void> {
  await until(
    `a condition of ${cluster} with message ${text}`,
    async () => (await bench.untilCondition(cluster, 'CACertificatesReady', {})).message.includes(text),
    60_000,
  );
}

/** Answers a request as an approver and a controller do. */
async function deny(request: CertificateRequestObject, message: string): Promise<void> {
  const lastTransitionTime = new Date().toISOString();
  const conditions = [{ type: 'Denied', status: 'True', reason: 'Policy', message, lastTransitionTime }];
  const options = { fieldManager, subresource: 'status' as const };
  await bench.client.mergePatch(CertificateRequest, request.metadata, { status: { conditions } }, options);
}

test('a control plane waits for cert-manager, for its controllers and for its issuer, each by name, and becomes ready with CAs that the issuer has signed', async () => {
  await bench.create('c1', specWith('company'));
  await bench.untilCondition('c1', 'CACertificatesReady', waiting);
  await untilMessage('c1', 'install cert-manager, or remove certificates.issuerRef');

  await installAddon(instanceFrom(process.env, inject('testbed')), 'cert-manager-crds', () => {});
  await untilMessage('c1', 'waits for Issuer company: it is not approved yet');
  expect(await requests('c1')).toHaveLength(3);

  certManager = await startCertManager({ kubeconfig: inject('kubeconfig') });
  await untilMessage('c1', 'Referenced "Issuer" not found');

  const begun = performance.now();
  await createIssuer(bench.client, 'company', root, namespace);
  await bench.untilReady('c1');
  for (const name of caCertificates('c1')) {
    const { certificate } = await pair(name);
    expect(isSignedBy(certificate, root.certificate)).toBe(true);
    expect(new X509Certificate(certificate).ca).toBe(true);
    expect(certificate.match(/BEGIN CERTIFICATE/g)).toHaveLength(1);
    await expect(bench.client.find(Secret, { namespace, name: `${name}-request` })).resolves.toBeUndefined();
  }
  await until('no request to be left', async () => (await requests('c1')).length === 0);
  await recordFault({
    fault: 'certificates.issuerRef names an issuer before cert-manager, its controllers and the issuer are there',
    observed: 'WaitingForIssuer says which of them is missing; the control plane is Ready soon after the last of them',
    recoverySeconds: (performance.now() - begun) / 1000,
    dataLost: 'none',
  });
});

test('a certificate of the issuer authenticates neither at the API server nor at etcd', async () => {
  const plan = { commonName: 'intruder', organizations: ['system:masters'], usages: ['client'], hosts: [] } as const;
  const unrelated = await issueCertificate(plan, root, validFor(dayMs, new Date()));
  const own = await issueCertificate(plan, await pair('c1-ca'), validFor(dayMs, new Date()));
  const { controlPlaneEndpoint } = (await bench.get('c1')).spec;
  const server = { ...controlPlaneEndpoint!, path: '/api/v1/nodes' };
  const at = requestTo(server, (await pair('c1-ca')).certificate);
  expect(await at(own)).toBe(200);
  expect(await at(unrelated)).toBe(401);
  expect(await at({ ...unrelated, certificate: `${unrelated.certificate}${root.certificate}` })).toBe(401);

  const [pod] = await bench.pods('c1', 'etcd');
  const etcd = await pair('c1-etcd');
  const member = { host: pod?.status?.podIP ?? '', port: ports.etcdHTTP, serverName: 'localhost', path: '/version' };
  const atMember = requestTo(member, etcd.certificate);
  const client = { ...plan, commonName: 'hosted-control-plane-controller', organizations: [] };
  expect(await atMember(await issueCertificate(client, etcd, validFor(dayMs, new Date())))).toBe(200);
  expect(await atMember(await issueCertificate(client, root, validFor(dayMs, new Date())))).toBe('refused');
});

test('a ClusterIssuer with an intermediate CA works too', async () => {
  const plan = { commonName: 'unused', organizations: [], usages: ['client'], hosts: [] } as const;
  const issuer = await createCA({ commonName: 'company clusters' }, validFor(10_000 * dayMs, new Date()));
  await createIssuer(bench.client, 'clusters', issuer);
  await bench.create('c2', specWith('clusters', 'ClusterIssuer'));
  await bench.untilReady('c2');
  for (const name of caCertificates('c2')) {
    const { certificate, key } = await pair(name);
    expect(isSignedBy(certificate, issuer.certificate)).toBe(true);
    await expect(issueCertificate(plan, { certificate, key }, validFor(dayMs, new Date()))).resolves.toBeDefined();
  }
  await bench.delete('c2');
});

test('a denied request is reported with its reason, and replaced when it is deleted', async () => {
  await certManager?.stop();
  certManager = await startCertManager({ kubeconfig: inject('kubeconfig'), approves: false });
  await bench.create('c3', specWith('company'));
  await bench.untilCondition('c3', 'CACertificatesReady', waiting);
  const pending = await until('three requests', async () => {
    const found = await requests('c3');
    return found.length === 3 && found;
  });
  for (const request of pending) await deny(request, 'no CAs for team issued');
  await untilMessage('c3', 'was denied: no CAs for team issued; the operator creates a new request at ');
  await certManager.stop();
  certManager = await startCertManager({ kubeconfig: inject('kubeconfig') });
  for (const { metadata } of await requests('c3')) await bench.client.delete(CertificateRequest, metadata);
  await bench.untilCondition('c3', 'CACertificatesReady', { status: 'True' });
  expect(isSignedBy((await pair('c3-ca')).certificate, root.certificate)).toBe(true);
  await bench.delete('c3');
});

test("while cert-manager's webhook is down no request can be created, which is reported, and the operator recovers without an action", async () => {
  const webhook = webhookThatIsAway();
  await bench.client.apply(webhook.object, { fieldManager, force: true, resource: webhook.resource });
  await bench.create('c4', specWith('company'));
  await untilMessage('c4', 'failed calling webhook');
  expect(await requests('c4')).toEqual([]);
  const kept = await until('a key that is kept', () =>
    bench.client.find<SecretObject>(Secret, { namespace, name: 'c4-ca-request' }),
  );
  await bench.client.delete(webhook.resource, webhook.object.metadata);
  await bench.untilCondition('c4', 'CACertificatesReady', { status: 'True' }, 120_000);
  expect((await pair('c4-ca')).key).toBe(valueOf(kept, 'tls.key'));
  await bench.delete('c4');
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
