import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { certificateKinds } from '../../constructs/api/certificate-status.ts';
import { Cluster, ConfigMap, Pod } from '../../constructs/api/resources.ts';
import type { Condition } from '../../constructs/api/status.ts';
import { newestRevision } from '../../constructs/cluster/release-revisions.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import { runHcp } from '../support/hcp.ts';
import { privateKeyIn } from '../support/private-keys.ts';
import { installProvider, providerNamespace, removeProvider } from '../support/provider.ts';
import { until } from '../support/until.ts';
import { controlPlaneKinds, kubernetesVersion, Workbench } from '../support/workbench.ts';
import { instanceFrom } from '../testbed/instance.ts';
import { kubectl } from '../testbed/kubectl.ts';
import { createInfrastructure, infrastructureRef, installInfrastructure } from './infrastructure.ts';

const namespace = 'system';
const instance = instanceFrom(process.env, inject('testbed'));
let bench: Workbench;

beforeAll(async () => {
  await installProvider(instance, (line) => console.log(line));
  bench = await Workbench.open(inject('kubeconfig'), namespace);
  await installInfrastructure(bench.client);
});
afterAll(async () => {
  await bench.deleteAll();
  await bench.close();
  await removeProvider(instance);
});

describe('a highly available control plane, the operator as a pod with its own rights', () => {
  let hosted: KubeClient;
  beforeAll(async () => {
    await createInfrastructure(bench.client, namespace, 'c1');
    const spec = { version: kubernetesVersion, replicas: 2, exposure: { loadBalancer: {} } };
    await bench.create('c1', spec, { infrastructureRef: infrastructureRef('c1') });
    await bench.untilReady('c1', 180_000);
    hosted = await bench.hosted('c1');
  });
  afterAll(() => hosted.connection.close());

  test('answers and stores through its kubeconfig', async () => {
    expect(await hosted.raw('/readyz')).toBe('ok');
    const stored = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'default', name: 'a' },
      data: { b: 'c' },
    };
    await hosted.create(stored, { fieldManager: 'test' });
    expect(await hosted.get(ConfigMap, { namespace: 'default', name: 'a' })).toMatchObject({ data: { b: 'c' } });
  });

  test('has every condition in its expected state', async () => {
    const negative = ['RollingOut', 'ScalingUp', 'ScalingDown', 'Deleting', 'Paused'];
    const wrong = async () =>
      (await bench.get('c1')).status?.conditions?.filter(
        ({ type, status: value }) => value !== (negative.includes(type) ? 'False' : 'True'),
      );
    // Phases that Ready does not wait for may be later.
    await expect.poll(wrong, { timeout: 60_000 }).toEqual([]);
    const { status } = await bench.get('c1');
    expect(status).toMatchObject({
      replicas: 2,
      readyReplicas: 2,
      versions: [{ version: kubernetesVersion, replicas: 2 }],
    });
  });

  test('is Available for Cluster API', async () => {
    type ClusterStatus = KubeObject & { readonly status?: { readonly conditions?: readonly Condition[] } };
    const name = { namespace, name: 'c1' };
    // Cluster API repeats its probe of a control plane that did not answer at first after half a minute.
    const available = await until(
      'Cluster API to find the Cluster available',
      async () => {
        const { status } = await bench.client.get<ClusterStatus>(Cluster, name);
        return status?.conditions?.find(({ type, status: value }) => type === 'Available' && value === 'True');
      },
      180_000,
    );
    expect(available.reason).toBe('Available');
    const { spec } = await bench.get('c1');
    // Cluster API writes conditions before the rest of a status.
    await expect
      .poll(() => bench.client.get(Cluster, name), { timeout: 60_000 })
      .toMatchObject({
        spec: { controlPlaneEndpoint: spec.controlPlaneEndpoint },
        status: {
          phase: 'Provisioned',
          initialization: { controlPlaneInitialized: true },
          controlPlane: { desiredReplicas: 2, readyReplicas: 2, availableReplicas: 2, upToDateReplicas: 2 },
        },
      });
  });

  test('runs every pod without a restart and under the strictest pod security', async () => {
    interface Pods extends KubeObject {
      readonly status?: { readonly containerStatuses?: readonly { readonly restartCount: number }[] };
    }
    const { items } = await bench.client.list<Pods>(Pod, { namespace });
    expect(items).toHaveLength(2 + 3 + 1 + 1);
    expect(
      items.flatMap(({ status }) => status?.containerStatuses ?? []).map(({ restartCount }) => restartCount),
    ).toEqual(Array.from({ length: 9 }, () => 0));
  });

  test('has readable columns in kubectl', async () => {
    const table = await kubectl(instance, ['get', 'hcp', '--namespace', namespace]);
    expect(table).toMatch(/NAME +INITIALIZED +API SERVER AVAILABLE +REPLICAS +READY +UPDATED/);
    expect(table).toMatch(/c1-cp +true +True +2 +2 +2 .* Ready +\S+$/m);
    const wide = await kubectl(instance, ['get', 'hcp', '--namespace', namespace, '--output', 'wide']);
    const { status } = await bench.get('c1');
    expect(wide).toMatch(/ CERTIFICATES UNTIL +RELEASE$/m);
    expect(wide).toMatch(new RegExp(` ${status?.certificatesNotAfter} +${newestRevision}$`, 'm'));
  });

  test('has every certificate as planned, for a year and for ten', async () => {
    const { ended } = runHcp(inject('kubeconfig'), ['certificates', 'c1', '--namespace', namespace, '-o', 'json']);
    const { code, out, err } = await ended;
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const { certificates } = JSON.parse(out) as { certificates: { secret: string; state: string }[] };
    expect(certificates.filter(({ state }) => state !== 'ok')).toEqual([]);
    expect(certificates.map(({ secret }) => secret)).toContain('c1-apiserver');
    const { status } = await bench.get('c1');
    expect(status?.certificates?.map(({ kind }) => kind)).toEqual(certificateKinds);
  });

  test('writes no secret to its log', async () => {
    const log = await kubectl(instance, [
      'logs',
      '--namespace',
      providerNamespace,
      '--selector',
      'control-plane=controller-manager',
      '--tail=-1',
    ]);
    expect(log).toContain('"condition":"Ready"');
    expect(log.split('\n').filter((line) => privateKeyIn(line) !== undefined)).toEqual([]);
  });

  test('is stable: nothing is written for a minute', async () => {
    const before = await bench.everything();
    const changes: string[] = [];
    const informed = AbortSignal.timeout(60_000);
    const watches = controlPlaneKinds.map(async (kind) => {
      const { resourceVersion } = await bench.client.list(kind, { namespace });
      try {
        const options = { namespace, resourceVersion, signal: informed };
        for await (const event of bench.client.watch(kind, options)) {
          if (event.type !== 'BOOKMARK')
            changes.push(`${event.type} ${event.object.kind} ${event.object.metadata.name}`);
        }
      } catch (error) {
        if (!informed.aborted) throw error;
      }
    });
    await Promise.all(watches);
    expect(changes).toEqual([]);
    expect(await bench.everything()).toEqual(before);
  });

  test('leaves nothing when its Cluster is deleted', async () => {
    await bench.delete('c1');
    expect(await bench.everything()).toEqual([]);
  });
});
