import { beforeAll, expect, test } from 'vitest';
import { demoCluster, provision } from '../tools/demo/provision.ts';
import { haveWorker, runHello } from '../tools/demo/workload.ts';
import { ownTestbed } from '../support/own-testbed.ts';
import { installProvider } from '../support/provider.ts';
import { clientOf } from '../tools/testbed/access.ts';
import { applyObjects } from '../tools/testbed/apply-objects.ts';
import { bringUp } from '../tools/testbed/bring-up.ts';
import { oldestClusterApi, oldestGatewayApi, pinnedMinors, pinnedVersion } from '../tools/testbed/families.ts';
import { kubectl } from '../tools/testbed/kubectl.ts';
import { traefik } from '../tools/testbed/module-manifests.ts';
import { oldestGatewayKinds, oldestKubernetes, oldestPlatform } from '../tools/testbed/oldest-platform.ts';
import { moduleObjects } from '../tools/testbed/rendered-objects.ts';
import { installTraefik } from '../tools/testbed/traefik.ts';

// The newest platform is what every other test runs on.
const instance = ownTestbed('past');
const report = (line: string): void => console.log(line);

beforeAll(async () => {
  await bringUp(instance, report, await oldestPlatform(instance, report));
  const client = await clientOf(instance);
  try {
    await applyObjects(client, await moduleObjects(instance.cache, oldestGatewayKinds, report));
    await installTraefik(instance, client, await moduleObjects(instance.cache, traefik, report));
  } finally {
    await client.connection.close();
  }
  await installProvider(instance, report);
}, 1_800_000);

/** A value of an object of the management cluster. */
const read = (path: string, ...which: string[]): Promise<string> =>
  kubectl(instance, ['get', ...which, '--output', `jsonpath=${path}`]);

test('its Kubernetes, Cluster API and Gateway API are the oldest that the documents promise', async () => {
  const kubernetes = await pinnedVersion(pinnedMinors[oldestKubernetes]?.kubernetes ?? '', 'k8s.io/kubernetes');
  expect(JSON.parse(await kubectl(instance, ['get', '--raw', '/version']))).toMatchObject({ gitVersion: kubernetes });
  expect(await read('{.items[*].status.nodeInfo.kubeletVersion}', 'nodes')).toBe(kubernetes);
  const image = '{.spec.template.spec.containers[0].image}';
  expect(await read(image, 'deployment', 'capi-controller-manager', '--namespace', 'capi-system')).toBe(
    `registry.k8s.io/cluster-api/cluster-api-controller:${await pinnedVersion(oldestClusterApi.name, oldestClusterApi.module)}`,
  );
  const release = String.raw`{.metadata.annotations.gateway\.networking\.k8s\.io/bundle-version}`;
  expect(await read(release, 'crd', 'tlsroutes.gateway.networking.k8s.io')).toBe(
    await pinnedVersion(oldestGatewayApi.name, oldestGatewayApi.module),
  );
});

test('a highly available control plane behind a Gateway gets a worker, which runs pods that answer', async () => {
  await provision(instance, report);
  await haveWorker(instance, demoCluster, report);
  await expect(runHello(instance, demoCluster, report)).resolves.toBeUndefined();
});

test('Cluster API and the provider agree that it is available, and its deletion ends', async () => {
  const cluster = ['cluster', demoCluster.name, '--namespace', demoCluster.namespace];
  await kubectl(instance, ['wait', ...cluster, '--for=condition=ControlPlaneAvailable', '--timeout=60s']);
  const conditions = '{range .status.conditions[?(@.status!="True")]}{.type}: {.message}{"\\n"}{end}';
  const status = await read(conditions, 'hostedcontrolplane', demoCluster.name, '--namespace', demoCluster.namespace);
  expect(status.split('\n').filter((line) => /^(Ready|Available)/.test(line))).toEqual([]);
  await kubectl(instance, ['delete', ...cluster, '--timeout=120s']);
});
