import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import {
  Cluster,
  Deployment,
  Event,
  Pod,
  PodDisruptionBudget,
  type Resource,
  Secret,
  Service,
  StatefulSet,
} from '../../../constructs/api/resources.ts';
import type { KubeObject, ObjectMeta } from '../../../reconciler/kube/object.ts';
import { fingerprint } from '../../../reconciler/pki/pem.ts';
import { pairOf, type SecretObject } from '../../../reconciler/pki/secret.ts';
import { operatedNamespace } from '../../support/operated-namespace.ts';
import { until } from '../../support/until.ts';
import { single } from '../../support/workbench.ts';
import { installAddon } from '../../testbed/addons.ts';
import { instanceFrom } from '../../testbed/instance.ts';

const namespace = 'faults';
const fieldManager = 'somebody-else';
const bench = operatedNamespace(namespace);

const named = (name: string) => ({ namespace, name });

describe('before anything may be created', () => {
  test('a HostedControlPlane without a Cluster reports a remedy, and nothing is created for it', async () => {
    await bench.createHostedControlPlane('lonely-cp', single);
    const { message } = await bench.untilCondition('lonely', 'Ready', { status: 'False', reason: 'WaitingForCluster' });
    expect(message).toContain('create a Cluster whose spec.controlPlaneRef names HostedControlPlane lonely-cp');
    expect(await bench.client.find(Service, named('s-lonely'))).toBeUndefined();
    expect((await bench.get('lonely')).metadata.finalizers ?? []).toEqual([]);
  });

  test('a paused Cluster is not reconciled until it is resumed', async () => {
    await bench.create('sleepy', single, { paused: true });
    // Cluster API itself does not touch a paused Cluster: the owner is set by hand, as if it had been paused later.
    await bench.nameOwner('sleepy');
    const { message } = await bench.untilCondition('sleepy', 'Paused', { status: 'True' });
    expect(message).toContain('spec.paused');
    expect(await bench.client.find(Service, named('s-sleepy'))).toBeUndefined();

    await bench.client.mergePatch(Cluster, named('sleepy'), { spec: { paused: false } }, { fieldManager });
    await bench.untilCondition('sleepy', 'Paused', { status: 'False' });
    await bench.delete('sleepy');
  });

  test('a missing Gateway is reported in a condition that names it', async () => {
    const { exposure: _, ...spec } = single;
    await installAddon(instanceFrom(process.env, inject('testbed')), 'gateway-api', () => {});
    await bench.create('gateway', { ...spec, gateway: { namespace: 'nowhere', name: 'capi' } });
    const { message } = await bench.untilCondition('gateway', 'SyncControlPlaneEndpointReady', {
      reason: 'GatewayNotFound',
    });
    expect(message).toMatch(/^Gateway nowhere\/capi does not exist: create it/);
    await bench.delete('gateway');
  });

  test('an unsupported version is refused at once', async () => {
    const created = bench.createHostedControlPlane('old-cp', { ...single, version: 'v1.20.0' });
    await expect(created).rejects.toThrow('this release does not support Kubernetes v1.20.0: use 1.32 to 1.37');
  });

  test('a spec that only the operator can refuse is reported in a condition', async () => {
    const backup = { schedule: '@daily', secret: { name: 's3' }, timeZone: 'Mars/Olympus' };
    await bench.create('lost', { ...single, etcd: { ...single.etcd, backup } });
    const { message } = await bench.untilCondition('lost', 'SpecAccepted', { reason: 'InvalidConfiguration' });
    expect(message).toContain('must be an IANA time zone');
    await bench.delete('lost');
  });

  test('a node port in use is reported in a condition that names it, until it is free', async () => {
    // Below 30086, where Kubernetes allocates no port until all others are in use.
    const nodePort = { address: '192.0.2.1', port: 30055, konnectivityPort: 30056 };
    await bench.client.create(
      {
        apiVersion: Service.apiVersion,
        kind: Service.kind,
        metadata: named('squatter'),
        spec: { type: 'NodePort', ports: [{ port: 80, nodePort: 30055, protocol: 'TCP' }] },
      },
      { fieldManager },
    );
    await bench.create('crowded', { ...single, exposure: { nodePort } });
    const { message } = await bench.untilCondition('crowded', 'APIServerServiceReady', { reason: 'NodePortTaken' });
    expect(message).toContain('30055');

    await bench.client.delete(Service, named('squatter'));
    await bench.patch('crowded', { spec: { replicas: 2 } });
    await bench.untilCondition('crowded', 'APIServerServiceReady', { status: 'True' });
  });
});

describe('while it runs', () => {
  beforeAll(async () => {
    await bench.create('c1', single);
    await bench.untilReady('c1');
  });
  afterAll(() => bench.delete('c1'));

  const secret = (name: string) => bench.client.find<SecretObject>(Secret, named(name));

  test('a deleted certificate is reissued', async () => {
    const before = pairOf(await secret('c1-scheduler'))?.certificate ?? '';
    await bench.client.delete(Secret, named('c1-scheduler'));
    const after = await until('the certificate to be back', async () => pairOf(await secret('c1-scheduler')));
    expect(fingerprint(after.certificate)).not.toBe(fingerprint(before));
    await bench.untilReady('c1');
  });

  test('a lost CA certificate blocks the reconcile and is not replaced; when it is restored, the reconcile continues', async () => {
    const lost = await bench.client.get<SecretObject>(Secret, named('c1-ca'));
    await bench.client.delete(Secret, named('c1-ca'));
    const { message } = await bench.untilCondition('c1', 'CACertificatesReady', { reason: 'CACertificateMissing' });
    expect(message).toContain('restore it from a backup');
    await bench.untilCondition('c1', 'CertificatesAvailable', { status: 'False' });
    // Nothing is deleted because of it.
    expect((await bench.get('c1')).status?.readyReplicas).toBe(1);

    const { name, labels = {} } = lost.metadata;
    await bench.client.create({ ...lost, metadata: { namespace, name, labels } }, { fieldManager });
    await bench.untilReady('c1');
  });

  test('a manual change of what it renders is reverted; fields that others add stay, also in a pod template', async () => {
    const name = named('c1-api-server');
    // As `kubectl rollout restart` sets it: the pods run with what others add, and the operator does not take it away.
    const restarted = { 'kubectl.kubernetes.io/restartedAt': '2026-01-01T00:00:00Z' };
    await bench.client.mergePatch(
      Deployment,
      name,
      {
        metadata: { annotations: { theirs: 'stays' } },
        spec: { replicas: 2, template: { metadata: { annotations: restarted } } },
      },
      { fieldManager },
    );
    interface Edited extends KubeObject {
      readonly spec: { readonly replicas: number; readonly template: { readonly metadata: ObjectMeta } };
    }
    const reverted = await until('the replicas to be put right', async () => {
      const live = await bench.client.get<Edited>(Deployment, name);
      return live.spec.replicas === 1 ? live : undefined;
    });
    expect(reverted.metadata.annotations?.['theirs']).toBe('stays');
    expect(reverted.spec.template.metadata.annotations).toMatchObject(restarted);
    await until('pods with the annotation', async () => {
      const { items } = await bench.client.list(Pod, { namespace });
      const pods = items.filter(({ metadata }) => metadata.name.startsWith('c1-api-server-'));
      return pods.length === 1 && pods[0]!.metadata.annotations?.['kubectl.kubernetes.io/restartedAt'] !== undefined;
    });
    await bench.untilReady('c1');
  });

  test('scaling up and down is applied, and a disruption budget for one pod is deleted', async () => {
    const budget = () => bench.client.find(PodDisruptionBudget, named('c1-api-server'));
    await bench.patch('c1', { spec: { replicas: 2 } });
    await until('the second API server', async () => (await bench.get('c1')).status?.readyReplicas === 2, 180_000);
    await bench.untilReady('c1');
    expect(await budget()).toBeDefined();

    await bench.patch('c1', { spec: { replicas: 1 } });
    await until('the budget to be gone', async () => !(await budget()));
    await until('one API server', async () => (await bench.get('c1')).status?.replicas === 1);
    await bench.untilReady('c1');
  });

  test('a deleted workload is recreated with its data', async () => {
    const hosted = await bench.hosted('c1');
    const written = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'kept' }, data: {} };
    await until('a write', () => hosted.apply(written, { fieldManager, force: true }).catch(() => undefined));
    const uidOf = async (kind: Resource, name: string) =>
      (await bench.client.find(kind, named(name)))?.metadata.uid ?? 'none';
    const before = { set: await uidOf(StatefulSet, 'c1-etcd'), pod: await uidOf(Pod, 'c1-etcd-0') };
    await bench.client.delete(StatefulSet, named('c1-etcd'), { propagationPolicy: 'Background' });
    await bench.client.delete(Pod, named('c1-etcd-0'));
    // By uid, not by a condition: between two observations etcd may have gone and come back.
    for (const [kind, name, old] of [
      [StatefulSet, 'c1-etcd', before.set] as const,
      [Pod, 'c1-etcd-0', before.pod] as const,
    ]) {
      await until(`another ${kind.kind}`, async () => ![old, 'none'].includes(await uidOf(kind, name)), 180_000);
    }
    await bench.untilReady('c1');
    const kept = await until(
      'the API server to answer',
      () => hosted.raw('/api/v1/namespaces/default/configmaps/kept').catch(() => undefined),
      180_000,
    );
    expect(kept).toContain('"name":"kept"');
    await hosted.connection.close();
  });

  test('a component that does not start is reported with what it says, and with a Warning', async () => {
    const argument = (value: string | null) => ({
      spec: { deployment: { scheduler: { args: { 'no-such-flag': value } } } },
    });
    await bench.patch('c1', argument('x'));
    // By its message: when etcd was away, in the test before, the scheduler may have ended too.
    const message = /pod c1-scheduler-\S+: container \S+ ended with exit code 1: .*unknown flag: --no-such-flag/;
    await bench.untilCondition('c1', 'SchedulerReady', { reason: 'PodsFailing', message });
    expect((await bench.condition('c1', 'Ready'))?.reason).toBe('PodsFailing');
    await until('the event', async () => {
      const { items } = await bench.client.list<KubeObject & { type?: string; reason?: string }>(Event, { namespace });
      return items.some(({ type, reason }) => type === 'Warning' && reason === 'PodsFailing');
    });
    await bench.patch('c1', argument(null));
    await bench.untilReady('c1');
  });

  test('an image that cannot be pulled is reported', async () => {
    const image = (tag: string | null) => ({ spec: { deployment: { scheduler: { image: { tag } } } } });
    await bench.patch('c1', image('v0.0.1-missing'));
    const message = /v0\.0\.1-missing/;
    const found = await bench.untilCondition('c1', 'SchedulerReady', { reason: 'PodsFailing', message });
    expect(found.status).toBe('False');
    await bench.patch('c1', image(null));
    await bench.untilReady('c1');
  });

  test('another manager that insists is reported, and causes at most five writes in twenty seconds', async () => {
    const force = async (replicas: number) => {
      const { apiVersion, kind } = Deployment;
      const object = { apiVersion, kind, metadata: named('c1-scheduler'), spec: { replicas } };
      await bench.client.apply(object, { fieldManager, force: true });
    };
    let forced = 0;
    const fight = setInterval(
      () =>
        void force(3).then(
          () => (forced += 1),
          () => {},
        ),
      50,
    );
    // Each change and each revert is a generation.
    const generation = async () => (await bench.client.get(Deployment, named('c1-scheduler'))).metadata.generation ?? 0;
    const [before, begun] = [await generation(), performance.now()];
    try {
      const message = /Deployment faults\/c1-scheduler.*metadata\.managedFields/;
      await bench.untilCondition('c1', 'SchedulerReady', { reason: 'ReconcileFailed', message });
      const reported = forced;
      await until(
        'the other one to insist',
        () => forced > reported + 100,
        undefined,
        () => forced,
      );
      const windows = 1 + Math.floor((performance.now() - begun) / 20_000);
      expect((await generation()) - before).toBeLessThanOrEqual(windows * 2 * 5 + 1);
    } finally {
      clearInterval(fight);
    }
    await bench.untilReady('c1', 120_000);
  });
});
