import type { SecretObject } from '../../../imports/kubernetes.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { clusterNameLabel, pausedAnnotation } from '../../../constructs/api/group.ts';
import {
  Cluster,
  Deployment,
  HostedControlPlane,
  type Resource,
  Secret,
  StatefulSet,
} from '../../../constructs/api/resources.ts';
import { providerOf } from '../../../reconciler/import/read-other.ts';
import { TenantControlPlane } from '../../../reconciler/import/resources.ts';
import { takeSteps } from '../../../reconciler/import/run.ts';
import { importControlPlane } from '../../../reconciler/import/commands.ts';
import { readControlPlane } from '../../../reconciler/cli/control-plane.ts';
import { createCA, createServiceAccountKey, validFor } from '../../../reconciler/pki/issue.ts';
import { encodedData, valueOf } from '../../../reconciler/pki/secret.ts';
import { storeSecret } from '../../support/backup-secrets.ts';
import { snapshotOf } from '../../support/etcd-database.ts';
import { commandSession } from '../../support/loop/command-session.ts';
import { MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { ObjectStoreServer } from '../../support/object-store-server.ts';
import { hostedControlPlaneObject, namespace, now, spec } from '../../support/scope.ts';
import { handOverPatch } from '../../../reconciler/import/execute-import.ts';

const user = { fieldManager: 'user' };
const tenYears = 10 * 365 * 24 * 3_600_000;
const ca = await createCA({ commonName: 'kubernetes' }, validFor(tenYears, now));
const key = createServiceAccountKey();
let bucket: ObjectStoreServer;
beforeAll(async () => {
  bucket = await ObjectStoreServer.start();
  bucket.objects.set(`${namespace}/c1/final.etcd`, snapshotOf({ revisions: [2, 4711], etcdVersion: '3.6.0' }));
});
afterAll(() => bucket.stop());

const workload = (replicas: number) => ({
  replicas,
  selector: { matchLabels: { app: 'other' } },
  template: { metadata: { labels: { app: 'other' } }, spec: { containers: [{ name: 'controller' }] } },
});

/** A Cluster of another kind of control plane, beside which a user has created a paused HostedControlPlane. */
async function clusterOf(kind: string): Promise<MemoryCluster> {
  const cluster = new MemoryCluster(new ManualClock(now.getTime()));
  await cluster.install();
  const { apiVersion } = Cluster;
  const controlPlaneRef = { apiGroup: 'controlplane.cluster.x-k8s.io', kind, name: 'c1' };
  const controlPlaneEndpoint = { host: 'api.example.org', port: 6443 };
  await cluster.user.create(
    {
      apiVersion,
      kind: Cluster.kind,
      metadata: { namespace, name: 'c1' },
      spec: { controlPlaneRef, controlPlaneEndpoint },
    } as never,
    user,
  );
  const metadata = {
    name: 'c1',
    labels: { [clusterNameLabel]: 'c1' },
    annotations: { [pausedAnnotation]: 'import' },
    ownerReferences: [],
  };
  const etcd = { replicas: 1, backup: { schedule: '@daily', secret: { name: 's3' } } };
  await cluster.user.create(hostedControlPlaneObject({ metadata, spec: { ...spec, etcd } }), user);
  await cluster.user.create(storeSecret({ namespace, name: 's3' }, bucket.settings), user);
  return cluster;
}

function create(cluster: MemoryCluster, resource: Resource, name: string, content: object): void {
  const { apiVersion, kind } = resource;
  cluster.management.create(
    resource,
    { apiVersion, kind, metadata: { namespace, name }, ...content },
    { fieldManager: 'other' },
  );
}

async function take(cluster: MemoryCluster): Promise<void> {
  const { session } = commandSession(cluster, importControlPlane, { pause: async () => cluster.settle() });
  await takeSteps(session, { cluster: 'c1', snapshot: 'final.etcd', issuer: undefined });
}

async function expectMoved({ user: client, objects }: MemoryCluster, issuer: string): Promise<void> {
  const { spec: moved } = await client.get<never>(Cluster, { namespace, name: 'c1' });
  expect(moved).toMatchObject({ controlPlaneRef: { kind: 'HostedControlPlane', name: 'c1' } });
  const object = objects.get(HostedControlPlane, 'c1');
  expect(object).toMatchObject({
    spec: {
      controlPlaneEndpoint: { host: 'api.example.org', port: 6443 },
      etcd: { restore: { backup: 'final.etcd' } },
    },
  });
  expect(object?.metadata.annotations).toEqual({});
  expect(valueOf(objects.get<SecretObject>(Secret, 'c1-ca'), 'tls.crt')).toBe(ca.certificate);
  const tokens = objects.get<SecretObject>(Secret, 'c1-sa');
  expect(valueOf(tokens, 'tls.key')).toBe(key.key);
  expect(tokens?.metadata.annotations).toEqual({ 'controlplane.cluster.x-k8s.io/service-account-issuer': issuer });
}

it('a control plane of k0smotron is moved with its CA, which lives long enough to stay', async () => {
  const cluster = await clusterOf('K0smotronControlPlane');
  const pair = { 'tls.crt': ca.certificate, 'tls.key': ca.key };
  for (const name of ['c1-ca', 'c1-etcd', 'c1-proxy', 'c1-etcd-server'])
    create(cluster, Secret, name, { data: encodedData(pair) });
  create(cluster, Secret, 'c1-sa', { data: encodedData({ 'tls.crt': key.certificate, 'tls.key': key.key }) });
  create(cluster, StatefulSet, 'kmc-c1', { spec: workload(1) });
  create(cluster, StatefulSet, 'kmc-c1-etcd', { spec: workload(3) });
  await take(cluster);
  await expectMoved(cluster, 'https://kubernetes.default.svc');
  expect(cluster.objects.list(StatefulSet, {})).toEqual([]);
});

it('a control plane of Kamaji is moved with a snapshot that the user provides', async () => {
  const cluster = await clusterOf('KamajiControlPlane');
  await cluster.define(TenantControlPlane);
  const status = {
    certificates: { ca: { secretName: 'c1-ca' }, sa: { secretName: 'c1-sa-certificate' } },
    storage: { driver: 'etcd', dataStoreName: 'default' },
  };
  create(cluster, TenantControlPlane, 'c1', { status });
  create(cluster, Secret, 'c1-ca', { data: encodedData({ 'ca.crt': ca.certificate, 'ca.key': ca.key }) });
  create(cluster, Secret, 'c1-sa-certificate', { data: encodedData({ 'sa.key': key.key }) });
  create(cluster, Deployment, 'c1', { spec: workload(2) });
  await take(cluster);
  await expectMoved(cluster, 'https://kubernetes.default.svc.cluster.local');
  expect(cluster.objects.get(Deployment, 'c1')).toBeUndefined();
});

it('other kinds of control planes are refused by name', () => {
  expect(() => providerOf('KubeadmControlPlane')).toThrow(
    'the Cluster has a control plane of kind KubeadmControlPlane, which cannot be imported: the known kinds are HostedControlPlane, K0smotronControlPlane, KamajiControlPlane',
  );
});

it.each([
  ['3.6.9', undefined],
  ['3.7.1', '3.7.1'],
  [undefined, undefined],
])('data of etcd %s get version %s of etcd', (etcdVersion, version) => {
  const object = hostedControlPlaneObject({ spec: { ...spec, etcd: { replicas: 1 } } });
  const controlPlane = readControlPlane(object);
  const record = { snapshot: 'final.etcd', etcdVersion, secrets: [] };
  expect(handOverPatch({ cluster: 'c1', controlPlane }, record, undefined)).toEqual({
    metadata: { annotations: { [pausedAnnotation]: null } },
    spec: {
      etcd: {
        restore: { backup: 'final.etcd', latest: null, before: null, from: null },
        ...(version === undefined ? {} : { version }),
      },
    },
  });
});

it.each(['final', 'final.db', '../c2/final.etcd'])(
  'a file that is no snapshot of the folder is refused: %s',
  (snapshot) => {
    expect(() => importControlPlane.prepare({ positionals: ['c1'], values: { snapshot } })).toThrow(
      `--snapshot must be the name of a file that ends in .etcd, such as final.etcd, not "${snapshot}"`,
    );
  },
);
