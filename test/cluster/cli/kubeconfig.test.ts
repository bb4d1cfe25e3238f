import { beforeAll, describe, expect, it } from 'vitest';
import { KubeConfig } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { hostedControlPlaneCRD } from '../../../constructs/api/crd.ts';
import { HostedControlPlane, SelfSubjectReview } from '../../../constructs/api/resources.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import { type OwnerReference, ownerReference } from '../../../constructs/control-plane/chart.ts';
import { kubeconfig } from '../../../reconciler/cli/kubeconfig.ts';
import { KubeClient } from '../../../reconciler/kube/client.ts';
import { connect } from '../../../reconciler/kube/config.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { createCA, type KeyPair, validFor } from '../../../reconciler/pki/issue.ts';
import { bundle, splitCertificates } from '../../../reconciler/pki/pem.ts';
import { pairSecret } from '../../../reconciler/pki/secret.ts';
import { plainApiServer } from '../../support/plain-api-server.ts';
import { clusterName, ownedByCluster } from '../../support/scope.ts';
import { testSession } from '../../support/test-session.ts';
import { single } from '../../support/workbench.ts';

const fieldManager = 'test';
const namespace = 'default';

/** One real API server that is both the management cluster and the hosted one. */
const server = plainApiServer({ definitions: [hostedControlPlaneCRD] });
const { client } = server;
let owner: OwnerReference;

beforeAll(async () => {
  const { apiVersion, kind } = HostedControlPlane;
  const url = new URL(server.target.server);
  const object = await client.create(
    {
      apiVersion,
      kind,
      metadata: { namespace, name: clusterName, ownerReferences: [ownedByCluster] },
      spec: { ...single, controlPlaneEndpoint: { host: url.hostname, port: Number(url.port) } },
    },
    { fieldManager },
  );
  owner = ownerReference({ name: clusterName, uid: object.metadata.uid ?? '' });
  await putCA(server.target.certificateAuthority);
});

/** Makes this the CA of the cluster. */
async function putCA(pair: KeyPair): Promise<void> {
  const name = namesOf(clusterName).secrets.clusterCA;
  const props = { name, namespace, cluster: clusterName, owner };
  await client.apply(pairSecret(props, 'clusterApi', pair), { fieldManager });
}

/** Runs the command and returns its output on stdout and stderr. */
async function run(values: Record<string, string>): Promise<{ printed: string; reported: string }> {
  const { session, printed, reported } = testSession({ client, namespace });
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
  it('authenticates its holder as the requested user and groups', async () => {
    const { printed, reported } = await run({ user: 'jane@example.org', group: 'developers,readers', ttl: '10m' });
    const { userInfo } = (await holderOf(printed)) ?? {};
    expect(userInfo?.username).toBe('jane@example.org');
    expect(userInfo?.groups?.sort()).toEqual(['developers', 'readers', 'system:authenticated']);
    expect(reported).toMatch(/^valid for user jane@example.org, in developers, readers until /);
  });

  it('uses the current user by default', async () => {
    const { printed } = await run({});
    const self = await client.create<Review>(
      { apiVersion: SelfSubjectReview.apiVersion, kind: SelfSubjectReview.kind, metadata: { name: '' } },
      { fieldManager },
    );
    expect((await holderOf(printed))?.userInfo?.username).toBe(self.status?.userInfo?.username);
  });

  it('trusts both CAs during a rotation, and uses the first one to sign', async () => {
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

  it('writes a kubeconfig whose key is not in its messages', async () => {
    const { printed, reported } = await run({ user: 'jane' });
    expect(parse(printed)).toMatchObject({ kind: 'Config', 'current-context': `jane@${clusterName}` });
    expect(reported).not.toMatch(/BEGIN|client-key-data/);
  });
});
