import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { providerNames } from '../../../constructs/cluster/provider-names.ts';
import { KubeClient } from '../../../reconciler/kube/client.ts';
import { connect, loadKubeConfig } from '../../../reconciler/kube/config.ts';
import { demoCluster } from '../../tools/demo/provision.ts';
import { runScript } from '../../support/npm-run.ts';
import { ownTestbed } from '../../support/own-testbed.ts';
import { until } from '../../support/until.ts';
import { kubernetesVersion, Workbench } from '../../support/workbench.ts';
import { bootstrapData } from '../../system/joined-machine.ts';
import { createMachineDeployment } from '../../system/machine-deployment.ts';
import { machineNames, newestMachine, prepareForMachines } from '../../system/machines.ts';
import { kubeconfigPath } from '../../tools/testbed/instance.ts';
import { kubectl } from '../../tools/testbed/kubectl.ts';

// What test/system/demo does not do with the control plane of the demo.
const instance = ownTestbed('demo');
const env = { HCP_TESTBED: instance.name };
const { namespace, name } = demoCluster;
const inNamespace = (...args: string[]): Promise<string> => kubectl(instance, ['--namespace', namespace, ...args]);
let bench: Workbench | undefined;

afterAll(() => bench?.client.connection.close());

test('another run of the demo reuses its worker, and removes one that never joined', async () => {
  await runScript('demo', [], env);
  // as `worker add` leaves it when it is killed before the machine exists
  await symlink('demo/demo', join(instance.directory, 'workers/demo-worker-9'));
  const second = await runScript('demo', [], env);
  expect(second).toContain('removed demo-worker-9, which an earlier run did not let join');
  expect(second).toContain('demo-worker-1 is there already, and Ready');
});

test("without the provider's ClusterRole the kubeadm bootstrap provider may not read the control plane and reports that; with it, it continues", async () => {
  bench = new Workbench(namespace, new KubeClient(await connect(loadKubeConfig(kubeconfigPath(instance)))));
  await prepareForMachines(instance, bench);
  const deployment = { namespace, cluster: name, version: kubernetesVersion, replicas: 1 };
  await createMachineDeployment(instance, bench.client, deployment);
  const first = await newestMachine(instance, namespace);
  expect(await bootstrapData(instance, namespace, first)).toContain('kubeadm join');

  const role = ['clusterrole', providerNames.bootstrapRole];
  const saved = await kubectl(instance, ['get', ...role, '--output', 'json']);
  await kubectl(instance, ['delete', ...role]);
  await inNamespace('scale', 'machinedeployment', name, '--replicas=2');
  const machine = await until('a second Machine', async () =>
    (await machineNames(instance, namespace)).find((each) => each !== first),
  );
  const message = 'jsonpath={.status.conditions[?(@.type=="DataSecretAvailable")].message}';
  await until('the reason', async () => {
    const found = await inNamespace('get', 'kubeadmconfig', machine, '--output', message);
    return found.includes('"hostedcontrolplanes" in API group "controlplane.cluster.x-k8s.io"') && found;
  });
  const { metadata, ...rest } = JSON.parse(saved) as { metadata: { name: string; labels: object } };
  const restored = { ...rest, metadata: { name: metadata.name, labels: metadata.labels } };
  await kubectl(instance, ['create', '--filename', '-'], JSON.stringify(restored));
  expect(await bootstrapData(instance, namespace, machine)).toContain('kubeadm join');
});
