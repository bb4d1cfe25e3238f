import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requestLabels } from '../../../constructs/api/kubeconfig-request.ts';
import {
  CertificateRequest,
  CertificateSigningRequest,
  CiliumNetworkPolicy,
  ClusterRole,
  HostedControlPlane,
  IngressRouteTCP,
  RoleBinding,
} from '../../../constructs/api/resources.ts';
import { providerNames, providerNamespace, rbacGroup } from '../../../constructs/cluster/provider-names.ts';
import { LeaderElection } from '../../../reconciler/kube/lease.ts';
import { ManagementCluster } from '../../../reconciler/clusters/management/cache.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import type { ClientCertificateRequest } from '../../../reconciler/signer/request.ts';
import { Signer } from '../../../reconciler/signer/signer.ts';
import { createLogger } from '../../../reconciler/engine/log.ts';
import { clientCertificateRequest } from '../../support/client-certificate-request.ts';
import { BackedUpCluster } from '../../support/loop/backed-up-cluster.ts';
import { gateway, orderedBehindGateway } from '../../support/loop/behind-gateway.ts';
import { type MemoryCluster, ourName } from '../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { completeCluster, orderedCluster, settleBy } from '../../support/loop/scenario.ts';
import { operatorUser } from '../../support/loop/shipped-rights.ts';
import { unusedRights, withoutRight } from '../../support/loop/unused-rights.ts';
import { settled } from '../../support/manual-clock.ts';
import { MemoryClient } from '../../support/memory-cluster/client.ts';
import { ObjectStoreServer } from '../../support/object-store-server.ts';
import { clusterName, namespace } from '../../support/scope.ts';
import { until } from '../../support/until.ts';

let bucket: ObjectStoreServer;
beforeAll(async () => {
  bucket = await ObjectStoreServer.start();
});
afterAll(() => bucket.stop());

/** No API server has to load keys before all is settled. */
const unencrypted = { encryptionAtRest: { provider: 'None' } };

const restoreOf = ({ hostedControlPlane }: MemoryCluster) =>
  (hostedControlPlane as { status?: { etcd?: { restore?: { step?: string } } } }).status?.etcd?.restore?.step;

/** A control plane with a backup, and no operator. */
async function backedUp(watchNamespace?: string): Promise<{ cluster: MemoryCluster; backup: string }> {
  const site = await BackedUpCluster.start(bucket, 'a1', 0, unencrypted, watchNamespace);
  const backup = await site.backUp(0);
  await site.operator.stop();
  return { cluster: site.cluster, backup };
}

/** Asks for the backup over what runs. */
const ask = (cluster: MemoryCluster, backup: string) => cluster.change({ etcd: { restore: { backup } } });

async function deleted(cluster: MemoryCluster, operator: OperatorProcess): Promise<void> {
  await cluster.user.delete(HostedControlPlane, ourName);
  await operator.untilSettled();
}

/** From nothing to a restore over what runs, and to the end. */
async function wholeLife(watchNamespace?: string): Promise<MemoryCluster> {
  const { cluster, backup } = await backedUp(watchNamespace);
  const operator = await OperatorProcess.start(cluster);
  await ask(cluster, backup);
  await operator.reconcileUntil('the restore', () => restoreOf(cluster) === 'Completed');
  await operator.untilSettled();
  expect(cluster.conditions.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'True' });
  await deleted(cluster, operator);
  expect(cluster.objects.get(HostedControlPlane, ourName.name)).toBeUndefined();
  expect(operator.errors).toEqual([]);
  await operator.stop();
  return cluster;
}

/** Comes up behind an entry, changes what prunes objects, and ends. */
async function behind(ordered: MemoryCluster, change: object): Promise<MemoryCluster> {
  await settleBy(ordered);
  expect(ordered.conditions.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'True' });
  await ordered.change(change);
  const operator = await OperatorProcess.start(ordered);
  await operator.untilSettled();
  await deleted(ordered, operator);
  expect(operator.errors).toEqual([]);
  await operator.stop();
  return ordered;
}

const hosts = { apiHost: 'api.example.org', konnectivityHost: 'konnectivity.example.org' };
const loadBalancer = { loadBalancer: {}, gateway: null, ingress: null };

async function ordered(controller: string): Promise<MemoryCluster> {
  const cluster = await orderedCluster();
  await cluster.define(IngressRouteTCP);
  await cluster.change({ exposure: { loadBalancer: null, ingress: { ...hosts, controller } } });
  return cluster;
}

async function orderedWithCilium(): Promise<MemoryCluster> {
  const cluster = await orderedBehindGateway({ gateway });
  await cluster.define(CiliumNetworkPolicy);
  return cluster;
}

/** CAs are asked for at one issuer, and then at another one. */
async function withIssuers(): Promise<MemoryCluster> {
  const cluster = await orderedCluster({ certificates: { issuerRef: { name: 'first' } } });
  await cluster.define(CertificateRequest);
  const operator = await OperatorProcess.start(cluster);
  await operator.rounds(3);
  await cluster.change({ certificates: { issuerRef: { name: 'second' } } });
  await operator.rounds(3);
  await operator.stop();
  return cluster;
}

/** A rotation of a CA begins, and makes pods see what is mounted. */
async function rotating(): Promise<MemoryCluster> {
  const cluster = await completeCluster();
  await cluster.change({ certificates: { rotation: { clusterCA: 'please' } } });
  const operator = await OperatorProcess.start(cluster);
  for (let minutes = 0; minutes < 5; minutes++) {
    await cluster.clock.advance(60_000);
    await operator.rounds(1);
  }
  expect(operator.errors).toEqual([]);
  await operator.stop();
  return cluster;
}

/** The operator's signer answers a person whom an administrator has given the role for it. */
async function signs({ management: server, user, clock, used }: MemoryCluster): Promise<string | undefined> {
  const client = new MemoryClient(server, operatorUser(), { onPermitted: used.record });
  const role = providerNames.kubeconfigRole;
  server.store.put({
    apiVersion: RoleBinding.apiVersion,
    kind: RoleBinding.kind,
    metadata: { name: role, namespace },
    roleRef: { apiGroup: rbacGroup, kind: ClusterRole.kind, name: role },
    subjects: [{ apiGroup: rbacGroup, kind: 'Group', name: 'developers' }],
  } as KubeObject);
  const management = new ManagementCluster({ client, clock, onError: () => {} });
  const log = createLogger({ format: 'json', level: 'error' }, { write: () => {} });
  const signer = new Signer({ client, clock, management, log, events: { record: () => {} }, answersFor: () => true });
  await management.start();
  await signer.start();
  const { apiVersion, kind, spec } = await clientCertificateRequest();
  const metadata = { name: 'csr-1', labels: requestLabels(namespace, clusterName) };
  await user.create({ apiVersion, kind, metadata, spec }, { fieldManager: 'jane' });
  const answer = await until('an answer', async () => {
    await settled();
    const { status } = await user.get<ClientCertificateRequest>(CertificateSigningRequest, { name: 'csr-1' });
    return status?.certificate ?? status?.conditions?.find(({ type }) => type === 'Denied')?.message;
  });
  await signer.stop();
  await management.stop();
  return answer;
}
/** A process becomes the leader, and releases its Lease. */
async function leads({ management, clock, used }: MemoryCluster): Promise<boolean> {
  const client = new MemoryClient(management, operatorUser(), { onPermitted: used.record });
  const name = { namespace: providerNamespace, name: 'operator' };
  const handlers = { onAcquired: () => {}, onLost: () => {} };
  const election = new LeaderElection({ client, ...name, identity: 'a', clock, ...handlers });
  election.start();
  await clock.advance(20_000);
  const { isLeader } = election;
  await election.stop();
  return isLeader;
}

describe('with the rights of an installation', () => {
  it('for one namespace a control plane comes up, is restored over what runs, and is deleted', async () => {
    const cluster = await wholeLife(namespace);
    const user = operatorUser();
    const elsewhere = { verb: 'list', group: '', resource: 'secrets', namespace: 'other' };
    expect(cluster.management.authorizer.decide(user, elsewhere)).toEqual({ isAllowed: false });
    expect(cluster.management.authorizer.decide(user, { ...elsewhere, namespace })).toEqual({ isAllowed: true });
  }, 60_000);

  /** What restores need when they are over running volumes. */
  it.each([
    ['get', 'persistentvolumeclaims'],
    ['patch', 'persistentvolumeclaims'],
    ['create', 'pods'],
    ['delete', 'pods'],
    ['patch', 'deployments'],
    ['patch', 'statefulsets'],
    ['patch', 'hostedcontrolplanes/status'],
  ])(
    'but the right to %s %s, a restore stops there, says so, and goes on when it is granted',
    async (verb, resource) => {
      const { cluster, backup } = await backedUp();
      const { store } = cluster.management;
      const role = store.find(ClusterRole, { name: providerNames.managerRole });
      if (!role) throw new Error('the operator has no ClusterRole');
      store.put(withoutRight(role, verb, resource));
      await ask(cluster, backup);
      const operator = await OperatorProcess.start(cluster);
      const said = () => [...operator.errors.map(String), ...cluster.conditions.map(({ message }) => message)];
      const refused = `cannot ${verb} resource "${resource}"`;
      await operator.reconcileUntil(refused, () => said().some((text) => text?.includes(refused)));
      await operator.rounds(3);
      expect(restoreOf(cluster)).not.toBe('Completed');
      store.put(role);
      await operator.reconcileUntil('the restore', () => restoreOf(cluster) === 'Completed', 60_000);
      await operator.stop();
    },
    60_000,
  );
});

describe('the rights of the installation for all namespaces', () => {
  const clusters: MemoryCluster[] = [];
  let answer: string | undefined;
  let isLeader: boolean;
  beforeAll(async () => {
    const one = { exposure: loadBalancer, replicas: 1 };
    const serving = await completeCluster();
    answer = await signs(serving);
    isLeader = await leads(serving);
    clusters.push(serving, await wholeLife(), await withIssuers(), await rotating());
    clusters.push(await behind(await orderedWithCilium(), { networkPolicy: 'Disabled', ...one }));
    for (const controller of ['haproxy', 'traefik']) clusters.push(await behind(await ordered(controller), one));
  }, 120_000);

  it('let it sign kubeconfigs for those who may have them, and elect a leader', () => {
    expect(answer).toMatch(/^[A-Za-z0-9+/=]{400,}$/);
    expect(isLeader).toBe(true);
  });

  it('are all used, but these', () => {
    expect(unusedRights(clusters)).toEqual(Object.keys(usedElsewhere).sort());
  });
});

/** Rights that no loop above uses, with what does. */
const usedElsewhere: Readonly<Record<string, string>> = {
  'create tokenreviews.authentication.k8s.io': 'a reader of the metrics: test/cluster/monitoring/scrape-access',
  'get *.infrastructure.cluster.x-k8s.io':
    'an endpoint for infrastructure: test/cluster/shared-resources/infrastructure',
  'patch *.infrastructure.cluster.x-k8s.io': 'the same',
  'get customresourcedefinitions.apiextensions.k8s.io': 'the same',
  'get certificaterequests.cert-manager.io': 'an operator that crashed after its request: management/writer.test',
  'get configmaps': 'a ConfigMap that API servers mount: management/referenced-objects.test',
  'get persistentvolumes': 'a pod that no node can run: etcd/stranded-volumes.test',
  'list events.events.k8s.io': 'pods that a quota refuses: refused-pods.test',
  'get pods': 'an operator that crashed after it created one: management/writer.test',
  'patch machinedeployments.cluster.x-k8s.io': 'workers after a rotation: test/soak/machine-rollout',
  'patch machinepools.cluster.x-k8s.io': 'the same',
  'update hostedcontrolplanes/finalizers.controlplane.cluster.x-k8s.io':
    'asked by an admission plugin that no API server has by default, of who sets an owner that blocks deletion',
};
