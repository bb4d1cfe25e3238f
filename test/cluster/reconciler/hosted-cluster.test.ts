import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  CertificateSigningRequest,
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  DaemonSet,
  Deployment,
  Endpoints,
  EndpointSlice,
  Namespace,
  Node,
  type Resource,
  resourceOf,
  Role,
  RoleBinding,
  Secret,
  ServiceAccount,
} from '../../../constructs/api/resources.ts';
import { managedByLabel } from '../../../constructs/cluster/labels.ts';
import {
  clientCertificateSignerAnnotation,
  fieldManager,
  servingCertificateSignerAnnotation,
} from '../../../constructs/api/group.ts';
import { nodeSigners } from '../../../constructs/cluster/workload-identities.ts';
import { HostedClusterClient } from '../../../reconciler/clusters/hosted/client.ts';
import { HostedRooms } from '../../../reconciler/clusters/hosted/rooms.ts';
import { KubeClient } from '../../../reconciler/kube/client.ts';
import { systemClock } from '../../../reconciler/kube/clock.ts';
import { connectionFor } from '../../../reconciler/kube/config.ts';
import { isForbidden } from '../../../reconciler/kube/errors.ts';
import { describeObject, type KubeObject } from '../../../reconciler/kube/object.ts';
import { appliedLines, ownedLines } from '../../../reconciler/kube/owned-values.ts';
import type { RequestRecord } from '../../../reconciler/kube/request.ts';
import { plainApiServer } from '../../support/plain-api-server.ts';
import { FlakyProxy } from '../../support/flaky-proxy.ts';
import { hostedObjects, hostedRights, hostedTargetOf } from '../../support/hosted-api-server.ts';
import { until } from '../../support/until.ts';

interface ConfigMapObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const managed = { [managedByLabel]: fieldManager };
const other = { fieldManager: 'somebody-else' };
const rights = { name: 'hosted-control-plane:controller' };
const clusterInfo = { namespace: 'kube-public', name: 'cluster-info' };

// As in a hosted one: kube-proxy is privileged.
const server = plainApiServer({ flags: ['--allow-privileged=true'] });
const admin = server.client;
let proxy: FlakyProxy;
let hosted: HostedClusterClient;
let requests: RequestRecord[];
let changes: number;
let reverted: string[];
let errors: unknown[];

beforeAll(async () => {
  // Once: objects that a later reconcile finds unchanged cause no event.
  await open();
  await reconcile();
  await close();
});
beforeEach(open);
afterEach(close);

async function open(): Promise<void> {
  [requests, changes, reverted, errors] = [[], 0, [], []];
  proxy = await FlakyProxy.start(server.port);
  hosted = new HostedClusterClient(await hostedTargetOf(server, proxy.port), {
    clock: systemClock,
    relistMs: 500,
    room: new HostedRooms(systemClock).open(),
    onChange: () => (changes += 1),
    onRevert: (what) => reverted.push(what),
    onError: (error) => errors.push(error),
    onRequest: (record) => requests.push(record),
  });
}

async function close(): Promise<void> {
  await hosted.close();
  await proxy.stop();
}

/** Every kind has been listed, and those are watched for which a condition or a node waits. */
async function allKnown(): Promise<void> {
  const { applied } = await hostedTargetOf(server, proxy.port);
  const rbac = [ClusterRole, ClusterRoleBinding, Role, RoleBinding];
  const besides = [...rbac, ServiceAccount, EndpointSlice, CertificateSigningRequest, Node].length;
  const workloads = applied.filter(({ resource }) => [Deployment, DaemonSet, Endpoints].includes(resource));
  const watched = [Node, ServiceAccount, EndpointSlice, ...nodeSigners, ...workloads].length;
  const did = (wanted: string) => requests.filter(({ verb, code }) => verb === wanted && code === 200).length;
  await until('every kind to be known', () => did('list') >= applied.length + besides && did('watch') >= watched);
  expect(did('watch')).toBe(watched);
}

/** One reconcile as the phases do it, repeated until nothing is refused any more. */
async function reconcile(): Promise<void> {
  await until('rights to be in force', async () => {
    try {
      await hosted.apply(hostedRights);
      hosted.watch();
      await hosted.apply(hostedObjects);
      return true;
    } catch (error) {
      if (error instanceof Error && error.name === 'HostedClusterNotReady') return false;
      throw error;
    }
  });
}

/** Reconciles until the condition is met, after every change and now and then, as the controller does. */
async function converge(what: string, condition: () => Promise<boolean>): Promise<void> {
  await until(what, async () => {
    await reconcile();
    return condition();
  });
}

const writes = () => requests.filter(({ verb }) => !['list', 'watch'].includes(verb));
const exists = async (resource: Resource, name: { name: string; namespace?: string }) =>
  (await admin.find(resource, name)) !== undefined;

describe('a hosted cluster', () => {
  it('gets RBAC first and then everything else, and needs nothing more', async () => {
    await reconcile();
    await allKnown();
    // One for the administrator who grants rights, one for everything else.
    expect(proxy.accepted).toBe(2);
    requests = [];
    await reconcile();
    expect(requests).toEqual([]);
    expect(await exists(ConfigMap, clusterInfo)).toBe(true);
  });

  it('stores each object as it was applied, so that the next operator applies none', async () => {
    await reconcile();
    const stored = await Promise.all(hostedObjects.map((one) => admin.get(resourceOf(one), one.metadata)));
    const differences = hostedObjects.flatMap((one, index) => {
      const live = stored[index] ?? one;
      const { managedFields }: KubeObject['metadata'] = live.metadata;
      const fields = managedFields?.find(({ manager }) => manager === fieldManager)?.fieldsV1 ?? {};
      const [sent, has] = [new Set(appliedLines(one)), new Set(ownedLines(fields, live))];
      const lines = [...sent].filter((line) => !has.has(line)).concat([...has].filter((line) => !sent.has(line)));
      return lines.map((line) => `${describeObject(one)} ${line.replaceAll('\0', '.')}`);
    });
    expect(differences).toEqual([]);
  });

  it('is restored when another client changes it; additions by others stay', async () => {
    await reconcile();
    const patch = { data: { kubeconfig: 'mine', 'jws-kubeconfig-abcdef': 'signature' } };
    await admin.mergePatch(ConfigMap, clusterInfo, patch, other);
    await converge('cluster-info to be put right', async () => {
      const { data } = await admin.get<ConfigMapObject>(ConfigMap, clusterInfo);
      return data?.['kubeconfig'] !== 'mine' && data?.['jws-kubeconfig-abcdef'] === 'signature';
    });
    expect(reverted).toEqual(['ConfigMap kube-public/cluster-info']);
  });

  it.each<[string, Resource, { name: string; namespace?: string }]>([
    ['a ConfigMap', ConfigMap, { namespace: 'kube-system', name: 'kubeadm-config' }],
    ['a right of another subject', ClusterRoleBinding, { name: 'kubeadm:kubelet-bootstrap' }],
    ["the operator's own role", ClusterRole, rights],
    ["the operator's own binding", ClusterRoleBinding, rights],
    ['the address behind its Service', EndpointSlice, { namespace: 'default', name: 'kubernetes' }],
    ['an add-on', DaemonSet, { namespace: 'kube-system', name: 'kube-proxy' }],
  ])('gets a deleted object back: %s', async (_, resource, name) => {
    await reconcile();
    await allKnown();
    await admin.delete(resource, name);
    await converge(`${resource.kind} ${name.name} to be back`, () => exists(resource, name));
    expect((await admin.get(resource, name)).metadata.labels).toMatchObject(managed);
  });

  it('replaces a binding that another client recreated with another role, because the role of a binding is immutable', async () => {
    await reconcile();
    const name = 'kubeadm:kubelet-bootstrap';
    await admin.delete(ClusterRoleBinding, { name });
    const apiGroup = 'rbac.authorization.k8s.io';
    const roleRef = { apiGroup, kind: 'ClusterRole', name: 'view' };
    await admin.create({ ...kindOf(ClusterRoleBinding), metadata: { name }, roleRef } as KubeObject, other);
    await converge('our binding', async () => {
      const binding = await admin.find(ClusterRoleBinding, { name });
      return binding?.metadata.labels?.[managedByLabel] === fieldManager;
    });
    expect(await admin.get(ClusterRoleBinding, { name })).toMatchObject({
      roleRef: { name: 'system:node-bootstrapper' },
    });
  });

  it('gets its rights back that were deleted while the connection was down', async () => {
    await reconcile();
    await allKnown();
    proxy.goSilent();
    proxy.reset();
    await admin.delete(ClusterRoleBinding, rights);
    proxy.heal();
    await converge('the rights to be back', () => exists(ClusterRoleBinding, rights));
    expect(hosted.nodes()).toBe(0);
  });

  it('counts its nodes, and ignores their status updates', async () => {
    await reconcile();
    await allKnown();
    expect(hosted.nodes()).toBe(0);
    await admin.create({ ...kindOf(Node), metadata: { name: 'n1' } }, other);
    await admin.create({ ...kindOf(Node), metadata: { name: 'n2' } }, other);
    await until('both to be seen', () => hosted.nodes() === 2);
    const before = changes;
    await admin.mergePatch(Node, { name: 'n1' }, { metadata: { annotations: { reported: 'now' } } }, other);
    await admin.delete(Node, { name: 'n2' });
    await until('one to be gone', () => hosted.nodes() === 1);
    expect(changes).toBe(before + 1);
    await admin.delete(Node, { name: 'n1' });
  });

  it('keeps annotations on its nodes until they are removed, and neither recreates a deleted node nor changes another one of its name', async () => {
    const notes = { first: clientCertificateSignerAnnotation, second: servingCertificateSignerAnnotation };
    const theirs = { 'theirs.example.org/note': 'stays' };
    await reconcile();
    await admin.create({ ...kindOf(Node), metadata: { name: 'n3', annotations: theirs } }, other);
    const node = await until('the node', () => hosted.nodeMetadata()?.find(({ metadata }) => metadata.name === 'n3'));
    await hosted.annotateNode(node, { [notes.first]: '1', [notes.second]: '1' });
    await hosted.annotateNode(node, { [notes.second]: '2' });
    const { metadata } = await admin.get(Node, { name: 'n3' });
    expect(metadata.annotations).toEqual({ ...theirs, [notes.second]: '2' });
    expect(hosted.nodeMetadata()?.map((one) => one.metadata.annotations)).toEqual([{ [notes.second]: '2' }]);

    await admin.delete(Node, { name: 'n3' });
    await hosted.annotateNode(node, { [notes.second]: '3' });
    expect(await exists(Node, { name: 'n3' })).toBe(false);

    await admin.create({ ...kindOf(Node), metadata: { name: 'n3', annotations: theirs } }, other);
    await hosted.annotateNode(node, { [notes.second]: '3' });
    expect((await admin.get(Node, { name: 'n3' })).metadata.annotations).toEqual(theirs);
    await admin.delete(Node, { name: 'n3' });
  });

  it('has working controllers when the first service account exists', async () => {
    await reconcile();
    await allKnown();
    expect(hosted.controllersWork()).toBe(false);
    const metadata = { namespace: 'default', name: 'default' };
    await admin.create({ ...kindOf(ServiceAccount), metadata }, other);
    await until('it to be seen', () => hosted.controllersWork());
  });

  it('loses objects that are not kept, but none that the operator has not applied', async () => {
    await reconcile();
    const theirs = { namespace: 'kube-system', name: 'theirs' };
    await admin.apply({ ...kindOf(ConfigMap), metadata: { ...theirs, labels: managed } }, { ...other, force: true });
    const old = { namespace: 'kube-system', name: 'of-an-older-release' };
    await admin.apply({ ...kindOf(ConfigMap), metadata: { ...old, labels: managed } }, { fieldManager, force: true });
    const isCoreDNS = ({ metadata }: KubeObject) => metadata.name === 'coredns';
    const coredns = { namespace: 'kube-system', name: 'coredns' };
    await until('all to be pruned', async () => {
      hosted.watch();
      await hosted.prune(hostedObjects.filter((object) => !isCoreDNS(object)));
      return !(await exists(ConfigMap, old)) && !(await exists(Deployment, coredns));
    });
    expect(await exists(ConfigMap, theirs)).toBe(true);
    expect(await exists(ConfigMap, clusterInfo)).toBe(true);
    await admin.delete(ConfigMap, theirs);
  });
});

describe('a killed API server', () => {
  it('causes one failure, gets few requests meanwhile, and converges when it is back', async () => {
    await reconcile();
    await allKnown();
    await server.killApiServer();
    await until('the watches to be missed', () => errors.length > 0);
    requests = [];
    const changed = hostedObjects.map((object) => ({ ...object, metadata: { ...object.metadata, annotations: {} } }));
    await expect(hosted.apply(changed)).rejects.toMatchObject({ name: 'HostedClusterNotReady' });
    const sent = writes().length;
    await expect(hosted.apply(changed)).rejects.toMatchObject({ name: 'HostedClusterNotReady' });
    expect(writes()).toHaveLength(sent);
    expect(errors).toHaveLength(1);

    await server.startApiServer();
    await admin.delete(ConfigMap, clusterInfo);
    await converge('cluster-info to be back', () => exists(ConfigMap, clusterInfo));
  });
});

describe("the operator's own identity", () => {
  let ourselves: KubeClient;
  beforeAll(async () => {
    const { controller } = await hostedTargetOf(server, server.port);
    const { certificate: cert, key } = controller;
    ourselves = new KubeClient(connectionFor({ ...server.target, cert, key }));
    await admin.apply({ ...kindOf(Namespace), metadata: { name: 'users' } }, { ...other, force: true });
  });
  afterAll(() => ourselves.connection.close());

  const binding = { ...kindOf(ClusterRoleBinding), metadata: { name: 'mine' } };
  const cluster = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };

  it.each<[string, (client: KubeClient) => Promise<unknown>]>([
    ['read Secrets', (client) => client.list(Secret, { namespace: 'kube-system' })],
    ['read a Secret', (client) => client.get(Secret, { namespace: 'kube-system', name: 'any' })],
    ['read ConfigMaps of users', (client) => client.list(ConfigMap, { namespace: 'users' })],
    ['read ConfigMaps everywhere', (client) => client.list(ConfigMap)],
    [
      'bind the cluster-admin role to itself',
      (client) => client.create({ ...binding, roleRef: cluster } as KubeObject, other),
    ],
    ['grant itself more rights', (client) => client.mergePatch(ClusterRole, rights, { rules: [] }, other)],
    ['delete what it has applied', (client) => client.delete(ConfigMap, clusterInfo)],
    [
      'write an object with another name',
      (client) =>
        client.apply(
          { ...kindOf(ConfigMap), metadata: { namespace: 'kube-system', name: 'x' } },
          { ...other, force: true },
        ),
    ],
    [
      'create pods',
      (client) =>
        client.apply(
          { ...kindOf(DaemonSet), metadata: { namespace: 'kube-system', name: 'x' } },
          { ...other, force: true },
        ),
    ],
    ['change nodes', (client) => client.mergePatch(Node, { name: 'n1' }, { spec: { unschedulable: true } }, other)],
  ])('may not %s', async (_, call) => {
    await expect(call(ourselves)).rejects.toSatisfy(isForbidden);
  });
});

function kindOf({ apiVersion, kind }: Resource) {
  return { apiVersion, kind };
}
