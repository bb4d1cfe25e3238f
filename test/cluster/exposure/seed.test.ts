import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { Cluster, Gateway, HostedControlPlane } from '../../../constructs/api/resources.ts';
import { KubeClient } from '../../../reconciler/kube/client.ts';
import { connect, loadKubeConfig } from '../../../reconciler/kube/config.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { startOperator, type TestOperator } from '../../support/operator.ts';
import { ShippedRights } from '../../support/shipped-rights.ts';
import { until } from '../../support/until.ts';
import { type HostedControlPlaneObject, kubernetesVersion, Workbench } from '../../support/workbench.ts';
import { installAddon } from '../../testbed/addons.ts';
import { gatewayAddress, lookupFor } from '../../testbed/gateway-address.ts';
import { instanceFrom } from '../../testbed/instance.ts';
import { whoAmI } from './who-am-i.ts';

// The objects in the reference provider's documentation, unchanged except for what the testbed lacks: the Gateway's
// class and Kubernetes 1.33. They are in the namespace `default`, so that no workbench may delete its contents.
const instance = instanceFrom(process.env, inject('testbed'));
const file = join(import.meta.dirname, '../../clusters/gateway.yaml');
const documents = parseAllDocuments(await readFile(file, 'utf8')).map((document) => document.toJS() as KubeObject);
const find = (kind: string) => documents.find((document) => document.kind === kind)!;
const given = find(HostedControlPlane.kind) as HostedControlPlaneObject;

let bench: Workbench;
let rights: ShippedRights;
let operator: TestOperator;
beforeAll(async () => {
  const kubeconfig = inject('kubeconfig');
  await installAddon(instance, 'traefik', () => {});
  const installed = await Workbench.open(kubeconfig, 'seed');
  await installed.close();
  bench = new Workbench('default', new KubeClient(await connect(loadKubeConfig(kubeconfig))));
  const { client, namespace } = bench;
  rights = await ShippedRights.grant({ client, kubeconfig, namespace, watchNamespace: namespace });
  operator = await startOperator({ rights, lookup: lookupFor(instance) });
});
afterAll(async () => {
  await bench.delete('my-cluster');
  await operator.stop();
  await rights.end();
  await bench.client.connection.close();
});

test("the reference provider's HostedControlPlane becomes a control plane behind its Gateway", async () => {
  const shared = await bench.client.get<KubeObject & { spec: { listeners: unknown } }>(Gateway, {
    namespace: 'capi-system',
    name: 'capi',
  });
  expect(shared.spec.listeners).toEqual((find(Gateway.kind) as typeof shared).spec.listeners);

  const apply = { fieldManager: 'test' };
  await bench.client.apply(find(Cluster.kind), apply);
  await bench.client.apply({ ...given, spec: { ...given.spec, version: kubernetesVersion } }, apply);

  const ready = await until(
    'the control plane to be ready',
    async () => {
      const object = await bench.client.get<HostedControlPlaneObject>(HostedControlPlane, given.metadata);
      return object.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') && object;
    },
    200_000,
  );
  expect(ready.spec.controlPlaneEndpoint).toEqual({ host: 'my-cluster.default.clusters.example.com', port: 443 });
  expect(await whoAmI({ instance, bench, address: gatewayAddress(instance) }, 'my-cluster')).toMatchObject({
    username: 'kubernetes-admin',
  });
});
