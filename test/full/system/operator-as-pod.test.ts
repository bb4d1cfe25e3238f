import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { Deployment, Pod, Secret } from '../../../constructs/api/resources.ts';
import { providerNames } from '../../../constructs/cluster/provider-names.ts';
import { clusterctlName } from '../../../constructs/provider/repository.ts';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { onceWebhooksAnswer } from '../../support/cluster-api-webhooks.ts';
import { ClusterctlRepository } from '../../support/clusterctl-repository.ts';
import { crashesIn, type PodInState } from '../../support/pod-states.ts';
import { loadOperatorImage, providerNamespace, removeProvider } from '../../support/provider.ts';
import { until } from '../../support/until.ts';
import { kubernetesVersion, Workbench } from '../../support/workbench.ts';
import {
  createClassInfrastructure,
  createInfrastructure,
  createMachineTemplate,
  infrastructurePrefix,
  installInfrastructure,
} from '../../system/infrastructure.ts';
import { installAddon } from '../../tools/testbed/addons.ts';
import { instanceFrom } from '../../tools/testbed/instance.ts';
import { kubectl } from '../../tools/testbed/kubectl.ts';

// What clusterctl does; test/system/demo has everything else that an operator with its own rights does.
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

/** The pods of the control plane by their uids, and which of their containers have crashed. */
async function pods(): Promise<string[]> {
  const { items } = await bench.client.list<PodInState>(Pod, { namespace });
  return [...items.map(({ metadata }) => metadata.uid ?? '').toSorted(), ...crashesIn(items)];
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
    await bench.untilRolledOut('c1');
    hosted = await bench.hosted('c1');
  });
  afterAll(() => hosted.connection.close());

  test('is described by clusterctl, which hands out its kubeconfig', async () => {
    const describe = ['describe', 'cluster', 'c1', '--namespace', namespace, '--grouping=false'];
    // Cluster API repeats its probe of a control plane that did not answer at first after half a minute.
    let described = '';
    const isAvailable = async () =>
      /^Cluster system\/c1 +2\/2 .*True/m.test((described = await repository.run(describe)));
    await until('Cluster API to find the Cluster available', isAvailable, 180_000, () => described);
    expect(described).toMatch(new RegExp(`─HostedControlPlane system/c1-cp, ${kubernetesVersion} +2/2 .*True`));
    const kubeconfig = await repository.run(['get', 'kubeconfig', 'c1', '--namespace', namespace]);
    const secret = await bench.client.get<KubeObject & { data: { value: string } }>(Secret, {
      namespace,
      name: 'c1-kubeconfig',
    });
    expect(kubeconfig.trim()).toBe(Buffer.from(secret.data.value, 'base64').toString().trim());
  });

  test('keeps its containers while clusterctl upgrades, deletes and installs the operator', async () => {
    const operator = { namespace: providerNamespace, name: providerNames.manager };
    const before = {
      pods: await pods(),
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
    expect(await pods()).toEqual(before.pods);
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
