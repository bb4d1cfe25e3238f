import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KubeConfig } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { hostedControlPlaneCRD } from '../../../constructs/api/crd.ts';
import {
  CertificateSigningRequest,
  HostedControlPlane,
  Secret,
  SelfSubjectReview,
} from '../../../constructs/api/resources.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import { providerNames } from '../../../constructs/cluster/provider-names.ts';
import { type OwnerReference, ownerReference } from '../../../constructs/control-plane/chart.ts';
import { kubeconfig } from '../../../reconciler/cli/kubeconfig.ts';
import { approval } from '../../../reconciler/pki/certificate-signing-request.ts';
import { KubeClient } from '../../../reconciler/kube/client.ts';
import { systemClock } from '../../../reconciler/kube/clock.ts';
import { connect } from '../../../reconciler/kube/config.ts';
import type { EventNote } from '../../../reconciler/kube/events.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { createCA, type KeyPair, validFor } from '../../../reconciler/pki/issue.ts';
import { bundle, splitCertificates } from '../../../reconciler/pki/pem.ts';
import { pairSecret } from '../../../reconciler/pki/secret.ts';
import type { ClientCertificateRequest } from '../../../reconciler/signer/request.ts';
import { Signer } from '../../../reconciler/signer/signer.ts';
import { createLogger } from '../../../reconciler/engine/log.ts';
import { clientCertificateRequest } from '../../support/client-certificate-request.ts';
import { fieldManager as operatorName } from '../../../constructs/api/group.ts';
import { requestLabels } from '../../../constructs/api/kubeconfig-request.ts';
import { grantKubeconfigs, userClient } from '../../support/kubeconfig-users.ts';
import { plainApiServer } from '../../support/plain-api-server.ts';
import { clusterName, ownedByCluster } from '../../support/scope.ts';
import { ShippedRights } from '../../support/shipped-rights.ts';
import { testSession } from '../../support/test-session.ts';
import { until } from '../../support/until.ts';
import { single } from '../../support/workbench.ts';

const fieldManager = 'test';
const namespace = 'default';

/** One real API server that is both the management cluster and the hosted one; it decides who may have what. */
const server = plainApiServer({ definitions: [hostedControlPlaneCRD] });
const { client } = server;
let controlPlane: KubeObject;
let owner: OwnerReference;
let secret: KubeObject | undefined;
let rights: ShippedRights | undefined;
/** With the permissions that the installation grants, and no others. */
let operator: KubeClient;
let signer: Signer;
let tenant: KubeClient;
const events: EventNote[] = [];
const warnings: unknown[] = [];
const people: KubeClient[] = [];

beforeAll(async () => {
  const { apiVersion, kind } = HostedControlPlane;
  const url = new URL(server.target.server);
  controlPlane = await client.create(
    {
      apiVersion,
      kind,
      metadata: { namespace, name: clusterName, ownerReferences: [ownedByCluster] },
      spec: { ...single, controlPlaneEndpoint: { host: url.hostname, port: Number(url.port) } },
    },
    { fieldManager },
  );
  owner = ownerReference({ name: clusterName, uid: controlPlane.metadata.uid ?? '' });
  await putCA(server.target.certificateAuthority);
  rights = await ShippedRights.grant({ client, kubeconfig: server.kubeconfig, namespace, watchNamespace: namespace });
  operator = new KubeClient(await rights.connect());
  await grantKubeconfigs(client, namespace);
  tenant = await person('tom', 'tenants');
  signer = await startSigner();
});
afterAll(async () => {
  await signer?.stop();
  await Promise.all([operator, ...people].map((one) => one?.connection.close()));
  await rights?.end();
});

async function startSigner(): Promise<Signer> {
  const started = new Signer({
    client: operator,
    clock: systemClock,
    log: Object.assign(createLogger({ format: 'text', level: 'error' }), {
      warn: (...said: unknown[]) => void warnings.push(said),
    }),
    events: { record: (_, note) => void events.push(note) },
    management: { list: () => [controlPlane], get: () => secret },
    answersFor: () => true,
  });
  await started.start();
  return started;
}

/** Makes this the CA of the cluster. */
async function putCA(pair: KeyPair): Promise<void> {
  const name = namesOf(clusterName).secrets.clusterCA;
  const props = { name, namespace, cluster: clusterName, owner };
  secret = await client.apply(pairSecret(props, 'clusterApi', pair), { fieldManager });
}

/** A person in these groups, who has the permissions that `grantKubeconfigs` gives to these. */
async function person(name: string, ...groups: string[]): Promise<KubeClient> {
  const one = await userClient(server.target, name, groups);
  people.push(one);
  return one;
}

interface Output {
  readonly printed: string;
  readonly reported: string;
}

/** Runs the command as this user and returns its output on stdout and stderr. By default as a tenant, who may name others. */
async function run(values: Record<string, string>, as = tenant, now?: () => number): Promise<Output> {
  const { session, printed, reported } = testSession({
    client: as,
    namespace,
    ...(now && { now }),
    pause: () => new Promise((resolve) => setTimeout(resolve, 20)),
  });
  await kubeconfig.prepare({ positionals: [clusterName], values })(session);
  return { printed: printed.join('\n'), reported: reported.join('\n') };
}

interface Review extends KubeObject {
  readonly status?: { readonly userInfo?: { readonly username?: string; readonly groups?: string[] } };
}

/** The user that the API server reports for a kubeconfig. */
async function holderOf(text: string): Promise<Review['status']> {
  const config = new KubeConfig();
  config.loadFromString(text);
  const own = new KubeClient(await connect(config));
  try {
    const { apiVersion, kind } = SelfSubjectReview;
    return (await own.create<Review>({ apiVersion, kind, metadata: { name: '' } }, { fieldManager })).status;
  } finally {
    await own.connection.close();
  }
}

describe('hcp kubeconfig', () => {
  it('gives a person a kubeconfig of their own, who may read no Secret', async () => {
    const jane = await person('jane', 'developers');
    const { printed, reported } = await run({ group: 'developers' }, jane);
    const { userInfo } = (await holderOf(printed)) ?? {};
    expect(userInfo?.username).toBe('jane');
    expect(userInfo?.groups?.sort()).toEqual(['developers', 'system:authenticated']);
    expect(reported).toMatch(/^valid for user jane, in developers until /);
    await expect(jane.list(Secret, { namespace })).rejects.toThrow(/forbidden/);
    expect(events.at(-1)?.note).toMatch(
      /^the operator signed for jane, in CertificateSigningRequest kubeconfig-c1-\S+, a client certificate that is valid until \S+, for user jane in developers$/,
    );
  });

  it('gives another name and other groups to those who may impersonate, and says to others what is missing', async () => {
    const values = { user: 'john@example.org', group: 'auditors', ttl: '10m' };
    const { printed } = await run(values, await person('tina', 'tenants'));
    const { userInfo } = (await holderOf(printed)) ?? {};
    expect(userInfo?.username).toBe('john@example.org');
    expect(userInfo?.groups?.sort()).toEqual(['auditors', 'system:authenticated']);
    await expect(run(values, await person('jane', 'developers'))).rejects.toThrow(
      /user jane may not impersonate hostedcontrolplanes\/kubeconfig in namespace default, .* \(NotPermitted\)$/,
    );
  });

  it('gives nothing without the roles of the installation, and names the one that is missing', async () => {
    await expect(run({}, await person('reader', 'readers', 'requesters'))).rejects.toThrow(
      `user reader may not create hostedcontrolplanes/kubeconfig in namespace default: bind ClusterRole ${providerNames.kubeconfigRole} there`,
    );
    await expect(run({}, await person('reader', 'readers'))).rejects.toThrow(providerNames.kubeconfigRequestRole);
  });

  it('trusts both CAs during a rotation, and the operator uses the first one to sign', async () => {
    const successor = await createCA({ commonName: 'kubernetes' }, validFor(3600_000, new Date()));
    const { certificate, key } = server.target.certificateAuthority;
    await putCA({ certificate: bundle(certificate, successor.certificate), key });
    const { printed } = await run({ user: 'jane' });
    const { clusters } = parse(printed) as { clusters: [{ cluster: { 'certificate-authority-data': string } }] };
    const trusted = Buffer.from(clusters[0].cluster['certificate-authority-data'], 'base64').toString();
    expect(splitCertificates(trusted)).toEqual(splitCertificates(bundle(certificate, successor.certificate)));
    expect((await holderOf(printed))?.userInfo?.username).toBe('jane');
  });

  it('reports the actual expiry of the certificate, which is no later than that of its CA', async () => {
    const ending = await createCA({ commonName: 'kubernetes' }, validFor(60_000, new Date()));
    await putCA(ending);
    const { reported } = await run({ user: 'jane', ttl: '8h' });
    expect(Date.parse(/until (.*)$/.exec(reported)?.[1] ?? '')).toBeLessThanOrEqual(Date.now() + 60_000);
  });

  it('writes a kubeconfig whose key is in no message, and in nothing that is sent', async () => {
    const { printed, reported } = await run({ user: 'jane' });
    expect(parse(printed)).toMatchObject({ kind: 'Config', 'current-context': `jane@${clusterName}` });
    expect(reported).not.toMatch(/BEGIN|client-key-data/);
    const { items } = await client.list<ClientCertificateRequest>(CertificateSigningRequest);
    const sent = items.map(({ spec, status }) =>
      [spec.request ?? '', status?.certificate ?? ''].map((text) => Buffer.from(text, 'base64').toString()).join('\n'),
    );
    expect(sent.at(-1)).toMatch(/BEGIN CERTIFICATE REQUEST/);
    expect(sent.join('\n')).not.toMatch(/PRIVATE/);
  });
});

describe('the operator as a signer', () => {
  /** As a person creates it with kubectl. */
  const requested = async (name: string, changes: Partial<ClientCertificateRequest['spec']> = {}) => {
    const { metadata, ...given } = await clientCertificateRequest(changes, requestLabels(namespace, clusterName));
    const { username: _, groups: __, ...spec } = given.spec;
    return client.create({ ...given, metadata: { name, labels: metadata.labels }, spec }, { fieldManager });
  };
  const stored = (name: string) => client.get<ClientCertificateRequest>(CertificateSigningRequest, { name });

  it('signs what it has approved before it ended, and the command waits for it no longer than a minute', async () => {
    await signer.stop();
    let time = 0;
    const late = run({}, tenant, () => (time += 1_500));
    await expect(late).rejects.toThrow(/^no operator has answered CertificateSigningRequest \S+ for 62s: check/);
    const request = await requested('interrupted');
    const subresource = 'approval';
    await client.apply(approval(request, 'may'), { fieldManager: operatorName, force: true, subresource });
    signer = await startSigner();
    const signed = await until('the certificate', async () => (await stored('interrupted')).status?.certificate);
    expect(splitCertificates(Buffer.from(signed, 'base64').toString())[0]).toMatch(/BEGIN CERTIFICATE/);
  });

  it('answers what it has approved and may not sign any more, by a failure, which is no retry', async () => {
    await signer.stop();
    const request = await requested('approved-too-long', { expirationSeconds: 604_801 });
    const written = { fieldManager: operatorName, force: true, subresource: 'approval' };
    await client.apply(approval(request, 'may'), written);
    signer = await startSigner();
    const types = await until('the answer', async () => {
      const conditions = (await stored('approved-too-long')).status?.conditions ?? [];
      return conditions.some(({ type }) => type === 'Failed') && conditions;
    });
    expect(types.map(({ type, reason }) => [type, reason])).toEqual([
      ['Approved', 'HostedControlPlaneApprove'],
      ['Failed', 'InvalidRequest'],
    ]);
  });

  it('denies what it never signs, also to an administrator', async () => {
    await requested('long', { expirationSeconds: 604_801 });
    const denied = await until('the answer', async () => (await stored('long')).status?.conditions?.[0]);
    expect(denied).toMatchObject({ type: 'Denied', reason: 'InvalidRequest' });
    expect(denied.message).toMatch(/more than 168h/);
  });

  it('may approve no request for another signer', async () => {
    const signerName = 'kubernetes.io/kube-apiserver-client';
    const request = await requested('of-the-cluster', { signerName });
    const written = { fieldManager, force: true, subresource: 'approval' };
    await expect(operator.apply(approval(request, 'no'), written)).rejects.toThrow(/not permitted to approve/);
    expect((await stored('of-the-cluster')).status?.conditions).toBeUndefined();
    expect(warnings).toEqual([]);
  });
});
