import type { SecretObject } from '../../../imports/kubernetes.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  ConfigMap,
  CustomResourceDefinition,
  definitionName,
  Deployment,
  HostedControlPlane,
  IngressRouteTCP,
  Pod,
  type Resource,
  Secret,
  TLSRoute,
} from '../../../constructs/api/resources.ts';
import { objectLabels } from '../../../constructs/cluster/labels.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { readCertificate } from '../../../reconciler/pki/certificate.ts';
import { valueOf } from '../../../reconciler/pki/secret.ts';
import { storeSecret } from '../../support/backup-secrets.ts';
import { gateway, orderedBehindGateway } from '../../support/loop/behind-gateway.ts';
import { expectNoWrites, orderedCluster, settleBy } from '../../support/loop/scenario.ts';
import type { MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { unknownFlag } from '../../support/management-controllers.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import type { StoredObject } from '../../support/memory-objects.ts';
import { ObjectStoreServer } from '../../support/object-store-server.ts';
import { clusterName, namespace } from '../../support/scope.ts';

const dayMs = 24 * 60 * 60_000;
const leaves = ['c1-etcd-server', 'c1-etcd-peer', 'c1-apiserver', 'c1-scheduler', 'c1-control-plane-controller'];

let store: ObjectStoreServer;
let complete: MemoryCluster;

beforeAll(async () => {
  store = await ObjectStoreServer.start();
  complete = await orderedCluster();
  await settleWithBackups(complete, store);
});
afterAll(() => store.stop());

/**
 * Lets it run, and take its first backup. Its copies have this backup, so that none takes that of another copy for its own
 * first one. Two clusters in one store would take those of each other, because both have the same uid in memory.
 */
async function settleWithBackups(cluster: MemoryCluster, store: ObjectStoreServer): Promise<void> {
  await settleBy(cluster);
  await cluster.user.create(storeSecret({ namespace, name: 'store' }, store.settings), { fieldManager: 'user' });
  await cluster.change({
    etcd: { backup: { secret: { name: 'store' }, schedule: '@daily', verify: { disabled: true } } },
  });
  await settleBy(cluster);
  await reconcileOften(cluster, () => lastAttempt(cluster) !== undefined);
}

const apiServer = (changes: object) => ({ deployment: { apiServer: changes } });

/** Every way in which a spec, or what it refers to, is refused, and the condition that says so. */
it.each<[refused: string, condition: string, spec: object]>([
  ['a version that is not supported', 'SpecAccepted InvalidConfiguration', { version: 'v1.31.0' }],
  ['a field of another type', 'SpecAccepted InvalidConfiguration', { replicas: 'two' }],
  ['two exposures', 'SpecAccepted InvalidConfiguration', { exposure: { nodePort: {}, loadBalancer: {} } }],
  [
    'a policy of an API that is not installed',
    'NetworkPoliciesReady CiliumNotInstalled',
    { networkPolicy: 'CiliumNetworkPolicy' },
  ],
  [
    'an exposure that the endpoint rules out',
    'SpecAccepted InvalidConfiguration',
    { exposure: { loadBalancer: null, gateway: { name: 'web', namespace: 'gateways' } } },
  ],
  ['a version that etcd cannot change to', 'EtcdClusterReady VersionNotAllowed', { etcd: { version: '3.4.30' } }],
  [
    'a size below that of the volumes',
    'EtcdClusterReady VolumeSizeChanged',
    { etcd: { autoGrow: false, volumeSize: '1Gi' } },
  ],
  [
    'a restore from a missing Secret',
    'EtcdRestoreReady CheckingBackup',
    { etcd: { backup: { secret: { name: 'none' } }, restore: { latest: true } } },
  ],
  [
    'a schedule in an unknown time zone',
    'SpecAccepted InvalidConfiguration',
    { etcd: { backup: { timeZone: 'Mars/Olympus' } } },
  ],
  [
    'a flag that kube-apiserver does not know',
    'APIServerConfigurationAccepted ConfigurationRefused',
    apiServer({ args: { [unknownFlag]: 'x' } }),
  ],
  [
    'a receiver of audit records whose Secret is missing',
    'AuditReady AuditSecretInvalid',
    apiServer({
      audit: {
        policy: { rules: [{ level: 'Metadata' }] },
        webhook: { targets: [{ server: 'https://audit.example.org', authentication: { secretName: 'none' } }] },
      },
    }),
  ],
  [
    'a mount of a missing ConfigMap',
    'APIServerDeploymentsReady MountMissing',
    apiServer({ mounts: { policy: { path: '/etc/policy', configMap: { name: 'none' } } } }),
  ],
])(
  'while %s is refused, certificates are renewed, an etcd pod is replaced and a backup is begun',
  async (_, condition, spec) => {
    const managementCluster = complete.copy();
    await managementCluster.change(spec);
    expect(await attended(managementCluster, condition)).toEqual({ condition, renewed: leaves, isReplaced: true });
  },
);

it.each<[api: string, resource: Resource, exposure: object, condition: string]>([
  ['the Gateway API', TLSRoute, { gateway }, 'APIServerTLSRoutesReady GatewayAPINotInstalled'],
  [
    'the API of its ingress controller',
    IngressRouteTCP,
    { ingress: { apiHost: 'api.example.org', konnectivityHost: 'agents.example.org', controller: 'traefik' } },
    'APIServerTLSRoutesReady IngressAPINotInstalled',
  ],
])('while %s is not installed any more, the same is done', async (_, resource, exposure, condition) => {
  const managementCluster = await orderedBehindGateway(exposure);
  if (resource !== TLSRoute) await managementCluster.define(resource);
  const own = await ObjectStoreServer.start();
  try {
    await settleWithBackups(managementCluster, own);
    await managementCluster.user.delete(CustomResourceDefinition, { name: definitionName(resource) });
    expect(await attended(managementCluster, condition)).toEqual({ condition, renewed: leaves, isReplaced: true });
  } finally {
    own.stop();
  }
});

it('while another control plane holds a host that it asks for, the same is done', async () => {
  const ingress = { apiHost: 'api.example.org', konnectivityHost: 'agents.example.org', controller: 'haproxy' };
  const managementCluster = await orderedCluster({ exposure: { ingress } });
  const own = await ObjectStoreServer.start();
  try {
    await settleWithBackups(managementCluster, own);
    const taken = 'taken.example.org';
    const { apiVersion, kind, spec } = managementCluster.hostedControlPlane;
    const other = { namespace, name: 'c9' };
    await managementCluster.user.create(
      { apiVersion, kind, metadata: other, spec },
      {
        fieldManager: 'user',
      },
    );
    await managementCluster.user.mergePatch(
      HostedControlPlane,
      other,
      { status: { hosts: [{ name: taken, heldSince: '2026-11-01T00:00:00Z' }] } },
      { fieldManager: 'user', subresource: 'status' },
    );
    await managementCluster.change({ exposure: { ingress: { ...ingress, konnectivityHost: taken } } });
    const condition = 'SyncControlPlaneEndpointReady HostClaimed';
    expect(await attended(managementCluster, condition)).toEqual({ condition, renewed: leaves, isReplaced: true });
  } finally {
    own.stop();
  }
});

/**
 * What goes on while a condition says what is refused, when certificates are due, a pod of etcd is outdated and a backup is due.
 * @param condition type and reason of the expected one
 */
async function attended(managementCluster: MemoryCluster, condition: string) {
  await reconcileOften(managementCluster);
  const { type, reason } =
    managementCluster.conditions.find((one) => one.status === 'False' && condition.startsWith(`${one.type} `)) ?? {};
  const before = expiries(managementCluster);
  const attempt = lastAttempt(managementCluster);
  outdate(managementCluster, 'c1-etcd-2');
  await managementCluster.clock.advance(230 * dayMs);
  // The store is a real server, whose answers take real time.
  await reconcileOften(managementCluster, () => lastAttempt(managementCluster) !== attempt);
  return {
    condition: `${type} ${reason}`,
    renewed: leaves.filter((_name, index) => (expiries(managementCluster)[index] ?? 0) > (before[index] ?? 0)),
    isReplaced: revisionOf(managementCluster, 'c1-etcd-2') !== 'outdated',
  };
}

it('a new operator process reconciles the last accepted spec too, and a corrected spec is accepted', async () => {
  const managementCluster = complete.copy();
  await settleBy(managementCluster);
  await managementCluster.change({ version: 'v1.31.0', replicas: 3 });
  const operator = await OperatorProcess.start(managementCluster);
  await operator.untilSettled();
  expect(replicasOf(managementCluster)).toBe(2);
  expect(generations(managementCluster)).toEqual({ SpecAccepted: 4, Ready: 4, APIServerDeploymentsReady: 3 });
  await expectNoWrites(managementCluster, operator);

  await managementCluster.change({ version: 'v1.36.3' });
  await operator.untilSettled();
  expect(replicasOf(managementCluster)).toBe(3);
  expect(managementCluster.conditions.find(({ type }) => type === 'SpecAccepted')?.status).toBe('True');
  // The record of the spec before it is not rendered any more.
  expect(recordsOf(managementCluster)).toEqual(['c1-revision-3']);
  await operator.stop();
});

it('a change that concerns only Machines makes no new record', async () => {
  const managementCluster = complete.copy();
  const before = recordsOf(managementCluster);
  await managementCluster.change({ machineTemplate: { metadata: { labels: { pool: 'a' } } } });
  await settleBy(managementCluster);
  expect(recordsOf(managementCluster)).toEqual(before);
});

/**
 * Lets a new operator process act for some minutes and until all is over, and stops it. What is refused may be tried
 * again for ever.
 */
async function reconcileOften(managementCluster: MemoryCluster, isOver = () => true): Promise<void> {
  const operator = await OperatorProcess.start(managementCluster);
  for (let reconciles = 0; reconciles < 12; reconciles++) {
    await operator.reconcile();
    managementCluster.settle();
    await managementCluster.clock.advance(30_000);
    await operator.untilObserved();
  }
  if (!isOver()) await operator.reconcileUntil('what has begun to be over', isOver);
  await operator.stop();
}

function recordsOf({ objects }: MemoryCluster): string[] {
  return objects.list(ConfigMap, objectLabels(clusterName, 'revision')).map(({ metadata }) => metadata.name);
}

function expiries({ objects }: MemoryCluster): number[] {
  return leaves.map((name) => {
    const certificate = valueOf(objects.get<SecretObject>(Secret, name), 'tls.crt') ?? '';
    return readCertificate(certificate).notAfter.getTime();
  });
}

/** The generation of the spec that some conditions are about. */
function generations({ conditions }: MemoryCluster): Record<string, number | undefined> {
  const types = ['SpecAccepted', 'Ready', 'APIServerDeploymentsReady'];
  const of = (wanted: string) => conditions.find(({ type }) => type === wanted)?.observedGeneration;
  return Object.fromEntries(types.map((type) => [type, of(type)]));
}

function lastAttempt({ hostedControlPlane }: MemoryCluster): string | undefined {
  const { status } = hostedControlPlane as KubeObject & {
    status?: { etcd?: { backup?: { lastAttemptTime?: string } } };
  };
  return status?.etcd?.backup?.lastAttemptTime;
}

const revisionLabel = 'controller-revision-hash';

/** Gives a pod the state in which its StatefulSet has another template. */
function outdate({ objects }: MemoryCluster, name: string): void {
  const pod = objects.get<StoredObject>(Pod, name);
  if (!pod) throw new Error(`no pod ${name}`);
  const labels = { ...pod.metadata.labels, [revisionLabel]: 'outdated' };
  objects.put({ ...pod, metadata: { ...pod.metadata, labels } });
}

function revisionOf({ objects }: MemoryCluster, name: string): string | undefined {
  return objects.get(Pod, name)?.metadata.labels?.[revisionLabel];
}

function replicasOf({ objects }: MemoryCluster): number {
  const { spec } = objects.get<StoredObject>(Deployment, 'c1-api-server') as StoredObject & {
    spec: { replicas: number };
  };
  return spec.replicas;
}
