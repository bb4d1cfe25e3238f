import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { certificateKinds } from '../../constructs/api/certificate-status.ts';
import { Cluster, ConfigMap, Deployment, Pod, Secret } from '../../constructs/api/resources.ts';
import type { Condition } from '../../constructs/api/status.ts';
import { metricsPort, providerNames } from '../../constructs/cluster/provider-names.ts';
import { newestRevision } from '../../constructs/cluster/release-revisions.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import { forwardPort } from '../../reconciler/cli/port-forward.ts';
import { loadKubeConfig } from '../../reconciler/kube/config.ts';
import { isReady, type PodObject } from '../../reconciler/kube/readiness.ts';
import { runHcp } from '../support/hcp.ts';
import { privateKeyIn } from '../support/private-keys.ts';
import { clusterctlName } from '../../constructs/provider/repository.ts';
import { onceWebhooksAnswer } from '../support/cluster-api-webhooks.ts';
import { ClusterctlRepository } from '../support/clusterctl-repository.ts';
import { loadOperatorImage, providerNamespace, removeProvider } from '../support/provider.ts';
import { endMetricsReader, metricsReader, scrape } from '../support/metrics-reader.ts';
import { until } from '../support/until.ts';
import { controlPlaneKinds, kubernetesVersion, Workbench } from '../support/workbench.ts';
import { installAddon } from '../testbed/addons.ts';
import { instanceFrom } from '../testbed/instance.ts';
import { kubectl } from '../testbed/kubectl.ts';
import {
  createClassInfrastructure,
  createInfrastructure,
  createMachineTemplate,
  infrastructurePrefix,
  installInfrastructure,
} from './infrastructure.ts';

const namespace = 'system';
const instance = instanceFrom(process.env, inject('testbed'));
const report = (line: string) => console.log(line);
let bench: Workbench;
let repository: ClusterctlRepository;

beforeAll(async () => {
  await loadOperatorImage(instance, report);
  // clusterctl looks for cert-manager's kinds, and would fetch cert-manager without them.
  await installAddon(instance, 'cert-manager-crds', report);
  await installAddon(instance, 'kubeadm-bootstrap', report);
  repository = await ClusterctlRepository.create(instance);
  await repository.run(['init', '--control-plane', clusterctlName, '--wait-providers']);
  bench = await Workbench.open(inject('kubeconfig'), namespace);
  await installInfrastructure(bench.client);
});
afterAll(async () => {
  await bench.deleteAll();
  await bench.close();
  await removeProvider(instance);
  await repository.remove();
});

/** Objects of a cluster from a template of this release, as a user generates them. */
function generated(cluster: string, template: string, variables: NodeJS.ProcessEnv = {}): Promise<string> {
  const counts = ['--control-plane-machine-count', '2', '--worker-machine-count', '0'];
  const names = ['--target-namespace', namespace, '--kubernetes-version', kubernetesVersion];
  return repository.run(['generate', 'cluster', cluster, '--from', repository.release(template), ...names, ...counts], {
    INFRASTRUCTURE: infrastructurePrefix,
    SERVICE_CIDR: '10.128.0.0/16',
    ...variables,
  });
}

/** How often each container of each pod has restarted, by the uid of the pod. */
async function restarts(): Promise<Record<string, number[]>> {
  const { items } = await bench.client.list<PodObject>(Pod, { namespace });
  return Object.fromEntries(
    items.map(({ metadata, status }) => [
      metadata.uid,
      [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].map(
        ({ restartCount = 0 }) => restartCount,
      ),
    ]),
  );
}

const apply = (objects: string, ...flags: string[]) =>
  kubectl(instance, ['apply', '--filename', '-', ...flags], objects);

describe('a highly available control plane, the operator as a pod with its own rights', () => {
  let hosted: KubeClient;
  beforeAll(async () => {
    await createInfrastructure(bench.client, namespace, 'c1');
    await createMachineTemplate(bench.client, namespace, 'c1');
    const objects = await generated('c1', 'cluster-template.yaml');
    await onceWebhooksAnswer(() => apply(objects));
    await bench.untilReady('c1', 180_000);
    hosted = await bench.hosted('c1');
  });
  afterAll(() => hosted.connection.close());

  test('answers and stores through its kubeconfig', async () => {
    await until('the API server to be ready', async () => (await hosted.raw('/readyz').catch(() => '')) === 'ok');
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

  test('is in the metrics of its operator, for those who may read them', async () => {
    const scraper = { namespace, name: 'prometheus' };
    const token = await metricsReader(bench.client, scraper);
    const { items } = await bench.client.list<PodObject>(Pod, { namespace: providerNamespace });
    const scrapes = items.filter(isReady).map(async ({ metadata }) => {
      const pod = { namespace: providerNamespace, pod: metadata.name, port: metricsPort };
      const forwarded = await forwardPort(loadKubeConfig(inject('kubeconfig')), pod);
      const [withToken, without] = [await scrape(forwarded.port, token), await scrape(forwarded.port)];
      forwarded.close();
      expect([withToken.status, without.status]).toEqual([200, 401]);
      return withToken.text;
    });
    const texts = await Promise.all(scrapes);
    expect(texts.join('\n')).toMatch(/^hosted_control_plane_condition\{[^}]*name="c1-cp"/m);
    await endMetricsReader(bench.client, scraper);
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
    const found = await restarts();
    expect(Object.keys(found)).toHaveLength(2 + 3 + 1 + 1);
    expect(Object.values(found).flat()).toEqual(Array.from({ length: 9 }, () => 0));
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

  test.each([
    ['kube-apiserver', 'api-server'],
    ['kube-controller-manager', 'controller-manager'],
    ['kube-scheduler', 'scheduler'],
  ])('prints the log of %s by the labels of its pods', async (container, component) => {
    const ofCluster = 'cluster.x-k8s.io/cluster-name=c1';
    const logs = (selector: string): Promise<string> =>
      kubectl(instance, ['logs', '--namespace', namespace, '--selector', selector, '--container', container]);
    // The label of the cluster alone selects pods without that container, too.
    await expect(logs(ofCluster)).rejects.toThrow(`container ${container} is not valid for pod`);
    expect(await logs(`${ofCluster},app.kubernetes.io/component=${component}`)).not.toBe('');
  });

  test('is described by clusterctl, which hands out its kubeconfig', async () => {
    const described = await repository.run(['describe', 'cluster', 'c1', '--namespace', namespace, '--grouping=false']);
    expect(described).toMatch(/^Cluster system\/c1 +2\/2 .*True/m);
    expect(described).toMatch(new RegExp(`─HostedControlPlane system/c1-cp, ${kubernetesVersion} +2/2 .*True`));
    const kubeconfig = await repository.run(['get', 'kubeconfig', 'c1', '--namespace', namespace]);
    const secret = await bench.client.get<KubeObject & { data: { value: string } }>(Secret, {
      namespace,
      name: 'c1-kubeconfig',
    });
    expect(kubeconfig.trim()).toBe(Buffer.from(secret.data.value, 'base64').toString().trim());
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

  test('keeps its containers while clusterctl upgrades, deletes and installs the operator', async () => {
    const operator = { namespace: providerNamespace, name: providerNames.manager };
    const before = {
      restarts: await restarts(),
      control: (await bench.get('c1')).metadata.uid,
      operator: (await bench.client.get(Deployment, operator)).metadata.uid,
    };

    const release = await repository.addRelease({ major: 0, minor: 2 });
    await repository.run(['upgrade', 'apply', '--control-plane', release, '--wait-providers']);
    const entry = ['get', 'providers', '--namespace', providerNamespace, '--output', 'jsonpath={.items[*].version}'];
    expect(await kubectl(instance, entry)).toBe('v0.2.0');
    expect((await bench.client.get(Deployment, operator)).metadata.uid).not.toBe(before.operator);
    await bench.untilSeen('c1');

    const remove = ['delete', '--control-plane', clusterctlName];
    await expect(repository.run([...remove, '--include-crd'])).rejects.toThrow('found existing objects');
    await repository.run(remove);
    expect(await bench.client.find(Deployment, operator)).toBeUndefined();
    expect((await bench.get('c1')).metadata.uid).toBe(before.control);
    await until('the API server to be ready', async () => (await hosted.raw('/readyz').catch(() => '')) === 'ok');

    await repository.run(['init', '--control-plane', clusterctlName, '--wait-providers']);
    await bench.untilSeen('c1');
    expect(await restarts()).toEqual(before.restarts);
  });

  test('leaves nothing when its Cluster is deleted', async () => {
    await bench.delete('c1');
    expect(await bench.everything()).toEqual([]);
  });
});

describe('templates of the release', () => {
  test('behind a Gateway are accepted by Cluster API and this provider', async () => {
    const objects = await generated('c2', 'cluster-template-gateway.yaml', { GATEWAY_NAME: 'shared' });
    expect(await apply(objects, '--dry-run=server')).toContain(
      'hostedcontrolplane.controlplane.cluster.x-k8s.io/c2-cp',
    );
  });

  test('of a ClusterClass are a class that Cluster API accepts, and a Cluster that has its defaults', async () => {
    const variables = { INFRASTRUCTURE: infrastructurePrefix, NAMESPACE: namespace };
    const file = repository.release('clusterclass-hosted-control-plane.yaml');
    await createClassInfrastructure(bench.client, namespace, 'hosted-control-plane');
    await apply(await repository.run(['generate', 'yaml', '--from', file], variables));
    const objects = await generated('c3', 'cluster-template-class.yaml');
    const defaults = await until('core to have read the class', async () => {
      const cluster = JSON.parse(await apply(objects, '--dry-run=server', '--output', 'json')) as {
        readonly spec: { readonly topology: { readonly variables?: readonly object[] } };
      };
      return cluster.spec.topology.variables;
    });
    expect(defaults).toEqual([{ name: 'gateway', value: { name: '', namespace: 'default' } }]);
  });
});
