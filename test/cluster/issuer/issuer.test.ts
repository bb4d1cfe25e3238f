import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import {
  CertificateRequest,
  CustomResourceDefinition,
  definitionName,
  Secret,
} from '../../../constructs/api/resources.ts';
import { ports } from '../../../constructs/cluster/ports.ts';
import { isSignedBy } from '../../../reconciler/pki/certificate.ts';
import { createCA, issueCertificate, type KeyPair, validFor } from '../../../reconciler/pki/issue.ts';
import { type CertManager, createIssuer, startCertManager } from '../../support/cert-manager.ts';
import { recordFault } from '../../support/fault-table.ts';
import { operatedNamespace } from '../../support/operated-namespace.ts';
import { until } from '../../support/until.ts';
import { single } from '../../support/workbench.ts';
import { installAddon } from '../../tools/testbed/addons.ts';
import { instanceFrom } from '../../tools/testbed/instance.ts';
import { requestTo } from './foreign-issuer.ts';
import { caCertificates, dayMs, issuedBy, IssuedControlPlanes, waiting } from './issued-control-planes.ts';

const namespace = 'issued';

const bench = operatedNamespace(namespace, {
  prepare: (client) => client.delete(CustomResourceDefinition, { name: definitionName(CertificateRequest) }),
});
const issued = new IssuedControlPlanes(bench);
let root: KeyPair;
let certManager: CertManager | undefined;

beforeAll(async () => {
  root = await createCA({ commonName: 'company root' }, validFor(20_000 * dayMs, new Date()));
});
afterAll(() => certManager?.stop());

test('a control plane waits for cert-manager, for its controllers and for its issuer, each by name, and becomes ready with CAs that the issuer has signed', async () => {
  await bench.create('c1', { ...single, ...issuedBy('company') });
  await bench.untilCondition('c1', 'CACertificatesReady', waiting);
  await issued.untilMessage('c1', 'install cert-manager, or remove certificates.issuerRef');

  await installAddon(instanceFrom(process.env, inject('testbed')), 'cert-manager-crds', () => {});
  await issued.untilMessage('c1', 'waits for Issuer company: it is not approved yet');
  expect(await issued.requests('c1')).toHaveLength(3);

  certManager = await startCertManager({ kubeconfig: inject('kubeconfig') });
  await issued.untilMessage('c1', 'Referenced "Issuer" not found');

  const begun = performance.now();
  await createIssuer(bench.client, 'company', root, namespace);
  await bench.untilRolledOut('c1');
  for (const name of caCertificates('c1')) {
    const { certificate } = await issued.pair(name);
    expect(isSignedBy(certificate, root.certificate)).toBe(true);
    expect(new X509Certificate(certificate).ca).toBe(true);
    expect(certificate.match(/BEGIN CERTIFICATE/g)).toHaveLength(1);
    await expect(bench.client.find(Secret, { namespace, name: `${name}-request` })).resolves.toBeUndefined();
  }
  await until('no request to be left', async () => (await issued.requests('c1')).length === 0);
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
  const own = await issueCertificate(plan, await issued.pair('c1-ca'), validFor(dayMs, new Date()));
  const { controlPlaneEndpoint } = (await bench.get('c1')).spec;
  const server = { ...controlPlaneEndpoint!, path: '/api/v1/nodes' };
  const at = requestTo(server, (await issued.pair('c1-ca')).certificate);
  expect(await at(own)).toBe(200);
  expect(await at(unrelated)).toBe(401);
  expect(await at({ ...unrelated, certificate: `${unrelated.certificate}${root.certificate}` })).toBe(401);

  const [pod] = await bench.pods('c1', 'etcd');
  const etcd = await issued.pair('c1-etcd');
  const member = { host: pod?.status?.podIP ?? '', port: ports.etcdHTTP, serverName: 'localhost', path: '/version' };
  const atMember = requestTo(member, etcd.certificate);
  const client = { ...plan, commonName: 'hosted-control-plane-controller', organizations: [] };
  expect(await atMember(await issueCertificate(client, etcd, validFor(dayMs, new Date())))).toBe(200);
  expect(await atMember(await issueCertificate(client, root, validFor(dayMs, new Date())))).toBe('refused');
});
