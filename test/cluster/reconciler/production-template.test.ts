import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { ConfigMap, Node, Pod, Secret, ServiceAccount } from '../../../constructs/api/resources.ts';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { encodedData, type SecretObject, valueOf } from '../../../reconciler/pki/secret.ts';
import { AuditReceiver, createReceiverCA } from '../../support/audit-receiver.ts';
import { BackupWorkbench, unverifiedBackup } from '../../support/backup-workbench.ts';
import { storeSecret } from '../../support/backup-secrets.ts';
import { signedInUser } from '../../support/signed-in-user.ts';
import { endNamespace, makeNamespace } from '../../support/test-namespace.ts';
import { TokenIssuer } from '../../support/token-issuer.ts';
import { until } from '../../support/until.ts';
import { kubernetesVersion } from '../../support/workbench.ts';
import { findBinaries } from '../../tools/testbed/binaries.ts';
import { instanceFrom, lanAddress } from '../../tools/testbed/instance.ts';
import { run } from '../../tools/testbed/run.ts';

// The fields that a user of teutonet's provider has in production, all in one control plane: flags with three admission
// plugins and their ConfigMap, audit with a token of the platform, two token issuers, and a backup Secret of the platform.
const namespace = 'production';
const platform = 'production-platform';
const instance = instanceFrom(process.env, inject('testbed'));
const fieldManager = 'test';
const directory = mkdtempSync(join(tmpdir(), 'production-'));

let bench: BackupWorkbench;
let receiver: AuditReceiver;
let issuers: readonly TokenIssuer[];
let hosted: KubeClient;
let kubeconfig: string;

beforeAll(async () => {
  const host = lanAddress(instance, 1);
  receiver = await AuditReceiver.start(await createReceiverCA(), { host });
  issuers = [await TokenIssuer.create(host), await TokenIssuer.create(host)];
  await Promise.all(issuers.map((issuer) => issuer.open()));
  bench = await BackupWorkbench.start({ namespace, withoutImage: true });
  const { client, s3 } = bench;
  await makeNamespace(client, platform);
  const place = (name: string, kind: string) => ({
    namespace: platform,
    name,
    annotations: { [`controlplane.cluster.x-k8s.io/${kind}-access`]: `others,${namespace}` },
  });
  const backups = storeSecret({ namespace: platform, name: 'etcd-backup' }, s3.settings);
  await client.create({ ...backups, metadata: place('etcd-backup', 'backup') }, { fieldManager });
  const { apiVersion, kind } = Secret;
  const data = encodedData({ token: 'token-of-the-platform' });
  const audit = place('audit', 'audit');
  const annotations = {
    ...audit.annotations,
    'controlplane.cluster.x-k8s.io/audit-receivers': new URL(receiver.url).host,
  };
  await client.create({ apiVersion, kind, metadata: { ...audit, annotations }, data }, { fieldManager });
  const rights = await bench.rights;
  await rights.grantBackupSecret({ namespace: platform, name: 'etcd-backup' });
  await rights.grantAuditSecret({ namespace: platform, name: 'audit' });
  await client.create(
    {
      apiVersion: ConfigMap.apiVersion,
      kind: ConfigMap.kind,
      metadata: { namespace, name: 'admission' },
      data: { 'admission.yaml': JSON.stringify(admissionConfiguration) },
    },
    { fieldManager },
  );
  await bench.create('c1', productionSpec());
  await bench.untilReady('c1');
  hosted = await bench.hosted('c1');
  const secret = await client.get<SecretObject>(Secret, { namespace, name: 'c1-kubeconfig' });
  kubeconfig = valueOf(secret, 'value') ?? '';
  writeFileSync(join(directory, 'kubeconfig'), kubeconfig, { mode: 0o600 });
});
afterAll(async () => {
  await hosted?.connection.close();
  await bench.delete('c1');
  await endNamespace(bench.client, platform);
  await bench.close();
  await receiver.stop();
  await Promise.all(issuers.map((issuer) => issuer.close()));
  rmSync(directory, { recursive: true, force: true });
});

const admissionConfiguration = {
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'AdmissionConfiguration',
  plugins: [
    {
      name: 'EventRateLimit',
      configuration: {
        apiVersion: 'eventratelimit.admission.k8s.io/v1alpha1',
        kind: 'Configuration',
        limits: [{ type: 'Namespace', qps: 1, burst: 3 }],
      },
    },
  ],
};

function productionSpec(): object {
  const { url: server, ca: certificateAuthority } = receiver;
  const authentication = { secretName: 'audit', secretNamespace: platform };
  const oidcProvider = (issuer: TokenIssuer, prefix: string) => ({
    certificateAuthority: issuer.certificateAuthority,
    audiences: ['kubernetes'],
    claimMappings: { username: `"${prefix}:" + claims.sub`, groups: 'claims.groups' },
  });
  const args = {
    'admission-control-config-file': '/etc/kubernetes/admission.yaml',
    'enable-admission-plugins': 'AlwaysPullImages,EventRateLimit,NodeRestriction',
    'event-ttl': '4h',
    profiling: 'false',
    'tls-cipher-suites': 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
    'audit-webhook-batch-max-wait': '1s',
  };
  return {
    version: kubernetesVersion,
    replicas: 1,
    exposure: { loadBalancer: {} },
    kubeProxy: { disabled: true },
    oidcProviders: Object.fromEntries(
      issuers.map((issuer, index) => [issuer.url, oidcProvider(issuer, `sso-${index}`)]),
    ),
    etcd: { replicas: 1, backup: { ...unverifiedBackup, secret: { name: 'etcd-backup', namespace: platform } } },
    deployment: {
      apiServer: {
        args,
        mounts: { admission: { path: '/etc/kubernetes', configMap: { name: 'admission' } } },
        audit: {
          policy: { rules: [{ level: 'Metadata', resources: [{ resources: ['configmaps'] }] }, { level: 'None' }] },
          webhook: { targets: [{ server, certificateAuthority, authentication }] },
        },
      },
      controllerManager: { replicas: 1, args: { 'terminated-pod-gc-threshold': '100' } },
      scheduler: { replicas: 1, args: { 'authorization-always-allow-paths': '/healthz,/readyz,/livez,/metrics' } },
    },
  };
}

test('its audit receiver gets what users do, with the token of the platform', async () => {
  const { apiVersion, kind } = ConfigMap;
  await hosted.create({ apiVersion, kind, metadata: { namespace: 'default', name: 'written' } }, { fieldManager });
  const isRecorded = () => receiver.records.some(({ objectRef }) => objectRef?.name === 'written');
  await until('the record', isRecorded);
  expect(new Set(receiver.authorizations)).toEqual(new Set(['Bearer token-of-the-platform']));
});

test('users of both token issuers sign in', async () => {
  const { server, ca } = hostedTarget();
  const names: (string | undefined)[] = [];
  for (const issuer of issuers) {
    const token = issuer.token({ aud: 'kubernetes', sub: 'alice', groups: ['sre'] });
    const user = await until('the user', () => signedInUser({ server, ca }, token));
    expect(user.groups).toContain('sre');
    names.push(user.username);
  }
  expect(names).toEqual(['sso-0:alice', 'sso-1:alice']);
});

test('its three admission plugins work', async () => {
  const inDefault = (name: string) => ({ namespace: 'default', name });
  await until('the default ServiceAccount', () => hosted.find(ServiceAccount, inDefault('default')));
  const pod = { apiVersion: Pod.apiVersion, kind: Pod.kind, metadata: inDefault('pulled') };
  const containers = [{ name: 'any', image: 'any.example.org/any:1', imagePullPolicy: 'IfNotPresent' }];
  await hosted.create({ ...pod, spec: { containers } }, { fieldManager });
  const pulled = await hosted.get<KubeObject & { spec: { containers: { imagePullPolicy: string }[] } }>(
    Pod,
    inDefault('pulled'),
  );
  expect(pulled.spec.containers.map(({ imagePullPolicy }) => imagePullPolicy)).toEqual(['Always']);

  const { apiVersion, kind } = Node;
  await hosted.create({ apiVersion, kind, metadata: { name: 'one' } }, { fieldManager });
  const asNode = ['--as', 'system:node:one', '--as-group', 'system:nodes'];
  await expect(
    kubectl(...asNode, 'label', 'node', 'one', 'node-restriction.kubernetes.io/tier=secret'),
  ).rejects.toThrow(/is not allowed to modify labels/);

  const events = Array.from({ length: 10 }, (_, index) => `numbered-${index}`);
  const refused = await Promise.all(
    events.map((name) =>
      kubectl('create', '-f', eventFile(name)).then(
        () => '',
        (error: unknown) => String(error),
      ),
    ),
  );
  expect(refused.join('\n')).toMatch(/event rate limit|limit reached|TooManyRequests/i);
});

test('its backups are in the bucket of the platform', async () => {
  const backup = await bench.untilBackup('c1', undefined, 120_000);
  expect((await bench.store.list('')).some((key) => key.includes(backup))).toBe(true);
});

/** Every field has an effect, and nothing that the user asked for is overruled. */
test('nothing of it is left out', async () => {
  expect(await bench.condition('c1', 'SpecSupported')).toMatchObject({ status: 'True' });
  expect(await bench.condition('c1', 'APIServerConfigurationAccepted')).toMatchObject({ status: 'True' });
});

function hostedTarget(): { server: string; ca: string } {
  const server = /server: (\S+)/.exec(kubeconfig)?.[1] ?? '';
  const ca = Buffer.from(/certificate-authority-data: (\S+)/.exec(kubeconfig)?.[1] ?? '', 'base64').toString();
  return { server, ca };
}

async function kubectl(...args: readonly string[]): Promise<string> {
  const { kubectl = '' } = await findBinaries(instance.cache, process.env['HCP_TESTBED_BIN'], () => {});
  return run([kubectl, '--kubeconfig', join(directory, 'kubeconfig'), ...args]);
}

function eventFile(name: string): string {
  const involvedObject = { kind: 'Pod', namespace: 'default', name: 'pulled' };
  const metadata = { namespace: 'default', name };
  const file = join(directory, `${name}.json`);
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata,
    involvedObject,
    reason: 'Test',
    message: 'test',
    type: 'Normal',
  };
  writeFileSync(file, JSON.stringify(event));
  return file;
}
