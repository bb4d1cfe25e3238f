import type { SecretObject } from '../../../../imports/kubernetes.ts';
import type { CertificateRequestObject } from '../../../../imports/cert-manager.ts';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { CertificateRequest, Secret } from '../../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../../constructs/cluster/labels.ts';
import type { Outcome } from '../../../../reconciler/engine/outcome.ts';
import { caRotation } from '../../../../reconciler/phases/ca-rotation.ts';
import { caCertificates } from '../../../../reconciler/phases/ca-certificates.ts';
import { isKeyOf } from '../../../../reconciler/pki/certificate.ts';
import type { KeyPair } from '../../../../reconciler/pki/issue.ts';
import { createKey } from '../../../../reconciler/pki/key.ts';
import { clearRequests } from '../../../../reconciler/certificates/issuer/clear-requests.ts';
import { obtainCA } from '../../../../reconciler/certificates/issuer/obtain-ca.ts';
import { pairOf, valueOf } from '../../../../reconciler/pki/secret.ts';
import { SigningIssuer } from '../../../support/issuer.ts';
import { Killed, MemoryObjects, type StoredObject } from '../../../support/memory-objects.ts';
import { clusterName, now, type ScopeChanges, scopeOf } from '../../../support/scope.ts';

const issuerRef = { name: 'ours', kind: 'Issuer', group: 'cert-manager.io' };
const installed = { servedVersions: () => ['v1'] };
const withIssuer: ScopeChanges = { spec: { certificates: { issuerRef } }, sharedResources: installed };
const secrets = ['c1-ca', 'c1-etcd', 'c1-proxy'];

type StoredRequest = CertificateRequestObject &
  StoredObject & { readonly spec: { readonly request: string; readonly duration: string } };

let issuer: SigningIssuer;
beforeAll(async () => {
  issuer = await SigningIssuer.create(now);
});

const runIn = (management: MemoryObjects, changes: ScopeChanges = {}): Promise<Outcome> =>
  caCertificates.run(scopeOf(management, { ...withIssuer, ...changes }));
const requestsIn = (management: MemoryObjects) => management.list<StoredRequest>(CertificateRequest, {});
const secretIn = (management: MemoryObjects, name: string) => management.get<SecretObject & StoredObject>(Secret, name);
const pairIn = (management: MemoryObjects, name: string): KeyPair | undefined => pairOf(secretIn(management, name));

/** Acts as cert-manager: approves and signs every pending request. */
async function answer(management: MemoryObjects): Promise<void> {
  for (const request of requestsIn(management).filter(({ status }) => !status)) {
    const text = Buffer.from(request.spec.request, 'base64').toString('utf8');
    const certificate = `${await issuer.sign(text, { now })}${issuer.root.certificate}`;
    const conditions = [{ type: 'Ready', status: 'True', reason: 'Issued' }];
    management.put({ ...request, status: { conditions, certificate: Buffer.from(certificate).toString('base64') } });
  }
}

function report(management: MemoryObjects, type: string, message: string): void {
  for (const request of requestsIn(management)) {
    const conditions = [{ type, status: 'True', message, lastTransitionTime: now.toISOString() }];
    management.put({ ...request, status: { conditions } });
  }
}

describe('CAs of an issuer', () => {
  it('are all requested at once, by requests that contain no private key, and then waited for', async () => {
    const management = new MemoryObjects();
    expect(await runIn(management)).toMatchObject({
      kind: 'wait',
      reason: 'WaitingForIssuer',
      message: expect.stringMatching(
        /CertificateRequest team\/c1-ca-[0-9a-f]{8}-1 waits for Issuer ours; .*c1-etcd-.*c1-proxy-/,
      ) as string,
    });
    expect(management.writes.map((write) => write.replace(/-[0-9a-f]{8}-/, '-<key>-'))).toEqual([
      ...secrets.flatMap((name) => [`create Secret ${name}-request`, `create CertificateRequest ${name}-<key>-1`]),
      'create Secret c1-sa',
    ]);
    const asked = {
      isCA: true,
      usages: ['cert sign', 'crl sign', 'digital signature'],
      issuerRef,
      duration: '315360000s',
    };
    for (const { spec } of requestsIn(management)) expect(spec).toMatchObject(asked);
    expect(JSON.stringify(requestsIn(management))).not.toContain(Buffer.from('PRIVATE').toString('base64').slice(0, 8));
    const writes = management.writes.length;
    expect(await runIn(management)).toMatchObject({ kind: 'wait', reason: 'WaitingForIssuer' });
    expect(management.writes).toHaveLength(writes);
  });

  it('trust themselves and not their issuer, and their requests are deleted', async () => {
    const management = new MemoryObjects();
    await runIn(management);
    const keys = secrets.map((name) => valueOf(secretIn(management, `${name}-request`), 'tls.key') ?? '');
    await answer(management);
    expect(await runIn(management)).toMatchObject({ kind: 'done' });
    for (const [index, name] of secrets.entries()) {
      const { certificate, key } = pairIn(management, name)!;
      expect(key).toBe(keys[index]);
      expect(certificate.match(/BEGIN CERTIFICATE/g)).toHaveLength(1);
      expect(certificate).not.toBe(issuer.root.certificate);
    }
    expect(management.names).toEqual([...secrets, 'c1-sa'].map((name) => `Secret ${name}`));
  });

  it('are not requested while cert-manager is not installed', async () => {
    const management = new MemoryObjects();
    expect(await runIn(management, { sharedResources: {} })).toMatchObject({
      kind: 'wait',
      reason: 'WaitingForIssuer',
      message: expect.stringContaining('install cert-manager, or remove certificates.issuerRef') as string,
    });
    expect(management.names).toEqual(['Secret c1-sa']);
  });

  it('are not requested if kube-proxies would have to verify them', async () => {
    const management = new MemoryObjects();
    const gateway = { name: 'capi', namespace: 'capi-system' };
    const spec = { certificates: { issuerRef }, exposure: undefined, gateway, inClusterAccess: 'Proxy' };
    expect(await runIn(management, { spec })).toMatchObject({
      kind: 'wait',
      reason: 'WaitingForIssuer',
      message: expect.stringContaining('set inClusterAccess to Policy, or remove certificates.issuerRef') as string,
    });
    expect(requestsIn(management)).toEqual([]);
  });

  it('are requested again with the same key some minutes after a refusal', async () => {
    const management = new MemoryObjects();
    await runIn(management);
    report(management, 'Denied', 'not today');
    const refused = await runIn(management);
    expect(refused).toMatchObject({ kind: 'wait', reason: 'WaitingForIssuer', afterMs: 300_000 });
    expect(refused).toHaveProperty('message', expect.stringContaining('was denied: not today'));
    expect(requestsIn(management)).toHaveLength(3);
    const later = new Date(now.getTime() + 300_000);
    await runIn(management, { now: later });
    expect(requestsIn(management).map(({ metadata }) => metadata.name.at(-1))).toEqual(['2', '2', '2']);
    await answer(management);
    expect(await runIn(management, { now: later })).toMatchObject({ kind: 'done' });
  });

  it('are not requested with a key that a user has put there, which stays', async () => {
    const management = new MemoryObjects();
    const labels = { 'controlplane.cluster.x-k8s.io/requested-for': 'c1-ca' };
    const metadata = { name: 'c1-ca-request', labels: { ...selectorLabels(clusterName, 'certificates'), ...labels } };
    const data = { 'tls.key': Buffer.from(createKey()).toString('base64') };
    management.put({ apiVersion: 'v1', kind: 'Secret', metadata, data });
    expect(await runIn(management)).toMatchObject({
      kind: 'wait',
      message: expect.stringContaining('Secret c1-ca-request is not of the operator') as string,
    });
    expect(requestsIn(management).map(({ metadata: { labels: all } }) => Object.values(all ?? {}))).not.toContainEqual(
      expect.arrayContaining(['c1-ca']),
    );
    await runIn(management, { spec: {} });
    expect(secretIn(management, 'c1-ca-request')?.data).toEqual(data);
  });

  it('cannot be requested with an unreadable key, and the error does not contain the key', async () => {
    const management = new MemoryObjects();
    await runIn(management);
    const kept = secretIn(management, 'c1-ca-request')!;
    management.put({ ...kept, data: { 'tls.key': Buffer.from('secret text').toString('base64') } });
    await expect(runIn(management)).rejects.toThrow(/^Secret c1-ca-request contains no readable private key/);
  });
});

describe('an issuer beyond the namespace', () => {
  const clusterIssuer = { name: 'root', kind: 'ClusterIssuer' };
  const spec = { certificates: { issuerRef: clusterIssuer } };

  it.each([['team/ClusterIssuer/root'], ['*/ClusterIssuer/root']])(
    'is asked when the platform lists %s',
    async (entry) => {
      const management = new MemoryObjects();
      await runIn(management, { spec, clusterIssuers: ['other/ClusterIssuer/x', entry] });
      expect(requestsIn(management)).toHaveLength(3);
    },
  );

  it.each<[string, object, readonly string[]]>([
    ['that the platform does not list', clusterIssuer, []],
    ['that it lists for another namespace', clusterIssuer, ['other/ClusterIssuer/root', 'team/ClusterIssuer/root2']],
    ['of another kind', { name: 'root', kind: 'Issuer', group: 'example.org' }, ['team/Issuer/root']],
  ])('%s is not asked, and the message says what to add where', async (_, ref, clusterIssuers) => {
    const management = new MemoryObjects();
    expect(await runIn(management, { spec: { certificates: { issuerRef: ref } }, clusterIssuers })).toMatchObject({
      kind: 'wait',
      reason: 'WaitingForIssuer',
      message: expect.stringMatching(
        /ask it to add team\/(Cluster)?Issuer(\.example\.org)?\/root to CLUSTER_ISSUERS of the operator/,
      ) as string,
    });
    expect(management.names).toEqual(['Secret c1-sa']);
  });

  it('that is not listed any more changes no CA that it has signed, and is asked for no successor', async () => {
    const management = new MemoryObjects();
    const listed = { spec, clusterIssuers: ['team/ClusterIssuer/root'] };
    await runIn(management, listed);
    await answer(management);
    expect(await runIn(management, listed)).toMatchObject({ kind: 'done' });
    const before = secrets.map((name) => pairIn(management, name));
    expect(await runIn(management, { spec })).toMatchObject({ kind: 'done' });
    expect(secrets.map((name) => pairIn(management, name))).toEqual(before);
    const rotation = { certificates: { issuerRef: clusterIssuer, rotation: { proxyCA: 'new' } } };
    const outcome = await caRotation.run(scopeOf(management, { ...withIssuer, spec: rotation }));
    expect(outcome).toMatchObject({ kind: 'degraded', reason: 'WaitingForIssuer' });
    expect(requestsIn(management)).toEqual([]);
  });

  it('that is not listed any more is not waited for: what it was asked is withdrawn', async () => {
    const management = new MemoryObjects();
    await runIn(management, { spec, clusterIssuers: ['team/ClusterIssuer/root'] });
    await answer(management);
    expect(await runIn(management, { spec })).toMatchObject({ kind: 'wait', reason: 'WaitingForIssuer' });
    expect(requestsIn(management)).toEqual([]);
    expect(pairIn(management, 'c1-ca')).toBeUndefined();
  });
});

describe('an issuerRef', () => {
  it('that is added later does not change existing CAs', async () => {
    const management = new MemoryObjects();
    await runIn(management, { spec: {} });
    const before = secrets.map((name) => pairIn(management, name));
    management.writes.length = 0;
    expect(await runIn(management)).toMatchObject({ kind: 'done' });
    expect(management.writes).toEqual([]);
    expect(secrets.map((name) => pairIn(management, name))).toEqual(before);
  });

  it('that is added later signs the successor of a CA, in another Secret', async () => {
    const management = new MemoryObjects();
    await runIn(management, { spec: {} });
    const plan = { ca: 'cluster', secret: 'c1-ca', commonName: 'kubernetes' } as const;
    const ask = () =>
      obtainCA(scopeOf(management, withIssuer), { plan, secret: 'c1-ca-next', durationSeconds: 90_000 });
    expect(await ask()).toMatchObject({ kind: 'pending' });
    await answer(management);
    const obtained = await ask();
    expect(obtained).toMatchObject({ kind: 'obtained' });
    await clearRequests(scopeOf(management));
    expect(await ask()).toEqual(obtained);
    management.put({
      ...secretIn(management, 'c1-ca')!,
      metadata: { ...secretIn(management, 'c1-ca')!.metadata, name: 'c1-ca-next', uid: 'next' },
    });
    await clearRequests(scopeOf(management));
    expect(requestsIn(management)).toEqual([]);
    expect(secretIn(management, 'c1-ca-next-request')).toBeUndefined();
  });

  it('has its request deleted when the successor is not wanted any more', async () => {
    const management = new MemoryObjects();
    await runIn(management, { spec: {} });
    const before = management.names;
    const rotateIn = (certificates: object) =>
      caRotation.run(scopeOf(management, { ...withIssuer, spec: { certificates: { issuerRef, ...certificates } } }));
    expect(await rotateIn({ rotation: { proxyCA: 'new' } })).toMatchObject({
      kind: 'degraded',
      reason: 'WaitingForIssuer',
      message: expect.stringContaining('c1-proxy-next') as string,
    });
    expect(requestsIn(management)).toHaveLength(1);
    expect(await rotateIn({})).toMatchObject({ kind: 'done' });
    expect(management.names).toEqual(before);
  });

  it('that changes is used at once, and the requests to the old issuer are deleted', async () => {
    const management = new MemoryObjects();
    await runIn(management);
    const other = { ...issuerRef, name: 'other' };
    await runIn(management, { spec: { certificates: { issuerRef: other } } });
    expect(requestsIn(management).map(({ spec }) => spec.issuerRef)).toEqual([other, other, other]);
  });

  it('that is removed is not waited for', async () => {
    const management = new MemoryObjects();
    await runIn(management);
    expect(await runIn(management, { spec: {} })).toMatchObject({ kind: 'done' });
    expect(management.names).toEqual([...secrets, 'c1-sa'].map((name) => `Secret ${name}`));
  });
});

test('an operator that is killed before any write completes the requests, without a duplicate or a loss', async () => {
  const reconcileUntilDone = async (management: MemoryObjects): Promise<void> => {
    for (let count = 0; count < 6; count++) {
      if ((await runIn(management)).kind === 'done') return;
      await answer(management);
    }
    throw new Error('it never ended');
  };
  const undisturbed = new MemoryObjects();
  await reconcileUntilDone(undisturbed);
  const total = undisturbed.writes.length;
  expect(total).toBe(16);
  for (let writes = 0; writes < total; writes++) {
    const management = new MemoryObjects();
    management.dieAfter(writes);
    await expect(reconcileUntilDone(management)).rejects.toThrow(Killed);
    management.restart();
    await reconcileUntilDone(management);
    expect(management.names).toEqual(undisturbed.names);
    expect(management.writes.filter((write) => write.startsWith('create CertificateRequest'))).toHaveLength(3);
    for (const name of secrets) {
      const { certificate, key } = pairIn(management, name)!;
      expect(isKeyOf(certificate, key)).toBe(true);
    }
  }
});
