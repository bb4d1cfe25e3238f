import type { PodObject } from '../../../imports/kubernetes.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  Cluster,
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  DaemonSet,
  Deployment,
  HostedControlPlane,
  Pod,
  type Resource,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
} from '../../../constructs/api/resources.ts';
import { fieldManager } from '../../../constructs/api/group.ts';
import { managedByLabel } from '../../../constructs/cluster/labels.ts';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import type { KubeObject, ObjectName } from '../../../reconciler/kube/object.ts';
import { isReady } from '../../../reconciler/kube/readiness.ts';
import { createBootstrapToken } from '../../tools/testbed/bootstrap-token.ts';
import { borrow } from '../../support/lent/borrow.ts';
import { storedSecrets, storedUnder } from '../../support/stored-secrets.ts';
import { until, untilReconciled } from '../../support/until.ts';
import { single } from '../../support/workbench.ts';
import { issuerFor } from './hosted-sign-in.ts';

interface ConfigMapObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const other = { fieldManager: 'somebody-else' };
const inSystem = (name: string) => ({ namespace: 'kube-system', name });
const clusterInfo = { namespace: 'kube-public', name: 'cluster-info' };

const bench = borrow('plain', { restartsPods: true });
const { namespace } = bench;
let hosted: KubeClient;

beforeAll(async () => {
  hosted = await bench.hosted('c1');
});
afterAll(async () => {
  await bench.undo();
  await hosted.connection.close();
});

/** The operator's objects in the hosted cluster, each with its version. */
async function everything(): Promise<string[]> {
  const kinds = [ClusterRole, ClusterRoleBinding, Role, RoleBinding, ConfigMap, ServiceAccount, Service, Deployment];
  const labelSelector = `${managedByLabel}=${fieldManager}`;
  const lists = await Promise.all([...kinds, DaemonSet].map((kind) => hosted.list(kind, { labelSelector })));
  return lists
    .flatMap(({ items }) => items)
    .map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name} ${metadata.resourceVersion}`);
}

describe('a change by another client in the hosted cluster', () => {
  const live = async <T extends KubeObject>(resource: Resource, name: ObjectName) => hosted.get<T>(resource, name);

  test('is reverted for fields of the operator, and kept for others', async () => {
    const { id } = await createBootstrapToken(hosted);
    const signature = `jws-kubeconfig-${id}`;
    const before = await until('cluster-info to be signed', async () => {
      const object = await live<ConfigMapObject>(ConfigMap, clusterInfo);
      return object.data?.[signature] === undefined ? undefined : object;
    });
    await hosted.mergePatch(
      ConfigMap,
      clusterInfo,
      { metadata: { labels: { theirs: 'stays' } }, data: { kubeconfig: 'broken', theirs: 'stays' } },
      other,
    );
    const isWhole = ({ data }: ConfigMapObject) => data?.['kubeconfig'] === before.data?.['kubeconfig'];
    await untilReconciled(bench, 'c1', 'cluster-info', async () => isWhole(await live(ConfigMap, clusterInfo)));
    const after = await live<ConfigMapObject>(ConfigMap, clusterInfo);
    expect(Object.keys(after.data ?? {}).sort()).toEqual([signature, 'kubeconfig', 'theirs']);
    expect(after.metadata.labels?.['theirs']).toBe('stays');
  });

  test('is reverted in add-ons and RBAC', async () => {
    const proxy = inSystem('kube-proxy');
    const binding = { name: 'kubeadm:kubelet-bootstrap' };
    const before = await live<ConfigMapObject>(ConfigMap, proxy);
    const [file = ''] = Object.keys(before.data ?? {});
    await hosted.mergePatch(ConfigMap, proxy, { data: { [file]: 'broken' } }, other);
    await hosted.mergePatch(ClusterRoleBinding, binding, { subjects: [] }, other);
    await untilReconciled(
      bench,
      'c1',
      'the configuration of kube-proxy',
      async () => (await live<ConfigMapObject>(ConfigMap, proxy)).data?.[file] === before.data?.[file],
    );
    await untilReconciled(bench, 'c1', 'the subjects', async () => {
      const { subjects } = await live<KubeObject & { subjects?: object[] }>(ClusterRoleBinding, binding);
      return subjects?.length === 1;
    });
    const note = await until('an event', async () => {
      const { items } = await bench.client.list<KubeObject & { note?: string; reason?: string }>(
        { apiVersion: 'events.k8s.io/v1', kind: 'Event', plural: 'events', namespaced: true },
        { namespace },
      );
      const notes = items.filter(({ reason }) => reason === 'ForeignChangeReverted').map(({ note }) => note);
      return notes.find((note) => note?.includes('kube-proxy'));
    });
    expect(note).toContain('ConfigMap kube-system/kube-proxy in the hosted cluster');
  });

  test.each<[Resource, ObjectName]>([
    [ConfigMap, clusterInfo],
    [Deployment, inSystem('coredns')],
    [ClusterRole, { name: 'hosted-control-plane:controller' }],
  ])('is reverted for a deletion: $kind', async (resource, name) => {
    const before = await live(resource, name);
    await hosted.delete(resource, name);
    const after = await untilReconciled(bench, 'c1', 'it to be back', () => hosted.find(resource, name));
    expect(after.metadata.uid).not.toBe(before.metadata.uid);
    await bench.untilReady('c1');
  });
});

describe('add-ons', () => {
  test('are deleted when they are disabled, and recreated', async () => {
    const coredns = [
      [Deployment, inSystem('coredns')],
      [ConfigMap, inSystem('coredns')],
      [Service, inSystem('kube-dns')],
      [ServiceAccount, inSystem('coredns')],
      [ClusterRole, { name: 'system:coredns' }],
    ] as const;
    const present = async () =>
      (await Promise.all(coredns.map(([resource, name]) => hosted.find(resource, name)))).filter(Boolean).length;

    await bench.patch('c1', { spec: { coredns: { disabled: true } } });
    await until('CoreDNS to be gone', async () => (await present()) === 0);
    await bench.patch('c1', { spec: { coredns: { disabled: false } } });
    await until('CoreDNS to be back', async () => (await present()) === coredns.length);
    await bench.untilReady('c1');
    expect(await hosted.find(DaemonSet, inSystem('kube-proxy'))).toBeDefined();
  });
});

test('Secrets are encrypted in etcd', async () => {
  const metadata = { namespace: 'default', name: 'of-a-user' };
  await hosted.apply({ apiVersion: 'v1', kind: 'Secret', metadata, stringData: { a: 'b' } }, other);
  const stored = await storedSecrets(bench, 'c1');
  expect([...stored.keys()]).toContain('default/of-a-user');
  expect(Object.keys(storedUnder(stored))).toEqual([expect.stringMatching(/^secretbox|^key/)]);
  await hosted.delete(Secret, metadata);
});

describe('the operator', () => {
  test('looks after a control plane whose newest spec it refuses', async () => {
    const backup = { schedule: '@daily', secret: { name: 's3' }, timeZone: 'Mars/Olympus' };
    await bench.patch('c1', { spec: { etcd: { backup } } });
    const refused = { status: 'False', reason: 'InvalidConfiguration' } as const;
    await bench.untilCondition('c1', 'SpecAccepted', { ...refused, message: /IANA time zone/ });

    const certificate = { namespace, name: 'c1-scheduler' };
    const before = await bench.client.get(Secret, certificate);
    const [member] = await bench.pods('c1', 'etcd');
    await bench.client.delete(Secret, certificate);
    await bench.client.delete(Pod, member!.metadata);
    const issued = await until('the certificate', () => bench.client.find(Secret, certificate));
    expect(issued.metadata.uid).not.toBe(before.metadata.uid);
    const isBack = (pod: PodObject) => pod.metadata.uid !== member?.metadata.uid && isReady(pod);
    await until('the etcd member', async () => (await bench.pods('c1', 'etcd')).some(isBack));
    await bench.untilCondition('c1', 'EtcdClusterHealthy', { status: 'True' });
    expect(await bench.condition('c1', 'SpecAccepted')).toMatchObject(refused);

    await bench.patch('c1', { spec: { etcd: { backup: null } } });
    await bench.untilCondition('c1', 'SpecAccepted', { status: 'True' });
    await bench.untilReady('c1');
    // An API server connects to etcd for each kind on its own. The longer etcd was away, the later the last kind follows.
    await until('the API server to read every kind', () => everything().catch(() => undefined), 120_000);
  });

  test('applies nothing when it is restarted', async () => {
    const before = await everything();
    expect(before.length).toBeGreaterThan(20);
    // What the test before has changed is reported.
    await bench.untilRolledOut('c1');
    await bench.restartOperator();
    const isNodes = ({ verb, resource }: { verb: string; resource: string }) =>
      verb === 'watch' && resource === 'nodes';
    await until('the new operator to watch', () => bench.operator.hostedRequests.some(isNodes));
    // Its next write shows that it has compared everything.
    await hosted.delete(ConfigMap, clusterInfo);
    await untilReconciled(bench, 'c1', 'cluster-info to be back', () => hosted.find(ConfigMap, clusterInfo));
    const writes = (requests: readonly { verb: string; resource: string }[]) =>
      requests
        .filter(({ verb }) => !['check', 'get', 'list', 'watch'].includes(verb))
        .map(({ verb, resource }) => `${verb} ${resource}`);
    expect(writes(bench.operator.hostedRequests)).toEqual(['apply configmaps']);
    // Of the management cluster, only the note that something was put back, and the status: etcd was away in the test before, and what
    // the operator observes of it changes for a while.
    const isReport = (one: string) => one.endsWith(' events') || one === 'apply hostedcontrolplanes';
    expect(writes(bench.operator.requests).filter((one) => !isReport(one))).toEqual([]);
    const others = (all: readonly string[]) => all.filter((one) => !one.includes('cluster-info'));
    expect(others(await everything())).toEqual(others(before));
  });

  test('does not change a paused hosted cluster, and restores everything afterwards', async () => {
    const pause = (paused: true | null) =>
      bench.client.mergePatch(Cluster, { namespace, name: 'c1' }, { spec: { paused } }, other);
    await pause(true);
    await bench.untilCondition('c1', 'Paused', { status: 'True' });
    await hosted.delete(ConfigMap, clusterInfo);
    await hosted.delete(ClusterRoleBinding, { name: 'hosted-control-plane:controller' });
    // An operator that starts reconciles the objects in order: this one before one that is created later.
    await bench.restartOperator();
    await bench.createHostedControlPlane('later-cp', single);
    await bench.untilCondition('later', 'Ready', { reason: 'WaitingForCluster' });
    expect(bench.operator.hostedRequests).toEqual([]);
    // Only conditions, and events about them.
    const allowed = ['hostedcontrolplanes', 'events'];
    const written = bench.operator.requests.filter(({ verb }) => ['apply', 'create', 'delete', 'patch'].includes(verb));
    expect(written.filter(({ resource }) => !allowed.includes(resource))).toEqual([]);
    expect(await hosted.find(ConfigMap, clusterInfo)).toBeUndefined();

    await pause(null);
    await bench.untilCondition('c1', 'Paused', { status: 'False' });
    await until('cluster-info to be back', () => hosted.find(ConfigMap, clusterInfo));
    await bench.client.delete(HostedControlPlane, { namespace, name: 'later-cp' });
    await bench.untilReady('c1');
  });
});

describe('token issuers', () => {
  const { configure, untilUser } = issuerFor(bench, 'c1');
  const uids = async () =>
    (await bench.pods('c1', 'api-server'))
      .filter(({ metadata }) => !metadata.deletionTimestamp)
      .map(({ metadata }) => metadata.uid);

  test('are checked by a kube-apiserver, and users sign in; a change restarts no API server', async () => {
    await configure('claims.sub');
    await untilUser('alice');
    await bench.untilReady('c1');
    const before = await uids();
    await configure('"sso:" + claims.sub');
    await untilUser('sso:alice');
    await bench.untilReady('c1');
    expect(await uids()).toEqual(before);
    expect(await bench.pods('c1', 'api-server-check')).toEqual([]);
  });
});
