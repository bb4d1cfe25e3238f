import { beforeAll, describe, expect, it } from 'vitest';
import { KubeConfig } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { hostedControlPlaneCRD } from '../../../constructs/api/crd.ts';
import { HostedControlPlane, SelfSubjectReview } from '../../../constructs/api/resources.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import { type OwnerReference, ownerReference } from '../../../constructs/control-plane/chart.ts';
import type { Session } from '../../../reconciler/cli/command.ts';
import { kubeconfig } from '../../../reconciler/cli/kubeconfig.ts';
import { KubeClient } from '../../../reconciler/kube/client.ts';
import { connect } from '../../../reconciler/kube/config.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { createCA, type KeyPair, validFor } from '../../../reconciler/pki/issue.ts';
import { bundle, splitCertificates } from '../../../reconciler/pki/pem.ts';
import { pairSecret } from '../../../reconciler/pki/secret.ts';
import { plainApiServer } from '../../support/plain-api-server.ts';
import { clusterName, ownedByCluster } from '../../support/scope.ts';
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

/** Makes this the authority of the cluster. */
async function putCA(pair: KeyPair): Promise<void> {
  const name = namesOf(clusterName).secrets.clusterCA;
  const props = { name, namespace, cluster: clusterName, owner };
  await client.apply(pairSecret(props, 'clusterApi', pair), { fieldManager });
}

/** Runs the command and gives what it printed and told. */
async function run(values: Record<string, string>): Promise<{ printed: string; told: string }> {
  const printed: string[] = [];
  const told: string[] = [];
  const terminal = {
    print: (line: string) => void printed.push(line),
    tell: (line: string) => void told.push(line),
    confirm: () => Promise.resolve(undefined),
  };
  const session: Session = { client, namespace, terminal, now: () => Date.now() };
  await kubeconfig.prepare({ positionals: [clusterName], values })(session);
  return { printed: printed.join('\n'), told: told.join('\n') };
}

interface Review extends KubeObject {
  readonly status?: { readonly userInfo?: { readonly username?: string; readonly groups?: string[] } };
}

/** Who the API server takes the holder of a kubeconfig for. */
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
  it('makes the API server take its holder for the user and the groups that were asked for', async () => {
    const { printed, told } = await run({ user: 'jane@example.org', group: 'developers,readers', ttl: '10m' });
    const { userInfo } = (await holderOf(printed)) ?? {};
    expect(userInfo?.username).toBe('jane@example.org');
    expect(userInfo?.groups?.sort()).toEqual(['developers', 'readers', 'system:authenticated']);
    expect(told).toMatch(/^valid for user jane@example.org, in developers, readers until /);
  });

  it('names whoever asks when no user is given', async () => {
    const { printed } = await run({});
    const self = await client.create<Review>(
      { apiVersion: SelfSubjectReview.apiVersion, kind: SelfSubjectReview.kind, metadata: { name: '' } },
      { fieldManager },
    );
    expect((await holderOf(printed))?.userInfo?.username).toBe(self.status?.userInfo?.username);
  });

  it('trusts both authorities while one is being replaced, and has the first one sign', async () => {
    const successor = await createCA({ commonName: 'kubernetes' }, validFor(3600_000, new Date()));
    const { certificate, key } = server.target.certificateAuthority;
    await putCA({ certificate: bundle(certificate, successor.certificate), key });
    const { printed } = await run({ user: 'jane' });
    const { clusters } = parse(printed) as { clusters: [{ cluster: { 'certificate-authority-data': string } }] };
    const trusted = Buffer.from(clusters[0].cluster['certificate-authority-data'], 'base64').toString();
    expect(splitCertificates(trusted)).toEqual(splitCertificates(bundle(certificate, successor.certificate)));
    expect((await holderOf(printed))?.userInfo?.username).toBe('jane');
  });

  it('tells when the certificate really ends, which is no later than its authority', async () => {
    const ending = await createCA({ commonName: 'kubernetes' }, validFor(60_000, new Date()));
    await putCA(ending);
    const { told } = await run({ user: 'jane', ttl: '8h' });
    expect(Date.parse(/until (.*)$/.exec(told)?.[1] ?? '')).toBeLessThanOrEqual(Date.now() + 60_000);
  });

  it('writes a kubeconfig whose key is not among what it tells people', async () => {
    const { printed, told } = await run({ user: 'jane' });
    expect(parse(printed)).toMatchObject({ kind: 'Config', 'current-context': `jane@${clusterName}` });
    expect(told).not.toMatch(/BEGIN|client-key-data/);
  });
});
