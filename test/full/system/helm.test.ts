import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { demoCluster, provision } from '../../tools/demo/provision.ts';
import { ownTestbed } from '../../support/own-testbed.ts';
import { loadOperatorImage, providerNamespace } from '../../support/provider.ts';
import { installAddon } from '../../tools/testbed/addons.ts';
import { bringUp } from '../../tools/testbed/bring-up.ts';
import { Helm } from '../../tools/testbed/helm.ts';
import { withHostedApi } from '../../tools/testbed/workers.ts';
import { kubectl } from '../../tools/testbed/kubectl.ts';
import { repository } from '../../tools/testbed/operator-bundle.ts';

const instance = ownTestbed('char');
const report = (line: string): void => console.log(line);
const release = 'hosted-control-plane';
let program: Helm;

beforeAll(async () => {
  program = await Helm.open(instance, report);
  await bringUp(instance, report);
  await installAddon(instance, 'traefik', report);
  await loadOperatorImage(instance, report);
}, 600_000);
afterAll(() => program.close());

const helm = (...args: string[]): Promise<string> => program.run([...args, '--namespace', providerNamespace]);

const chart = join(repository, 'dist/chart');
const operator = ['deployment', 'capi-hosted-control-plane-controller-manager', '--namespace', providerNamespace];

/** The uids of all pods of the control plane. */
const pods = (): Promise<string> =>
  kubectl(instance, [
    'get',
    'pods',
    '--namespace',
    demoCluster.namespace,
    '--output',
    'jsonpath={.items[*].metadata.uid}',
  ]);

test('the provider is installed from its chart behind the CRDs, and brings a control plane up', async () => {
  const components = join(repository, 'dist/control-plane-components.yaml');
  const selector = 'clusterctl.cluster.x-k8s.io';
  const applied = await kubectl(instance, ['apply', '--server-side', '--filename', components, '--selector', selector]);
  expect(applied.trim().split('\n')).toEqual(Array(3).fill(expect.stringMatching(/^customresourcedefinition\./)));
  await helm('install', release, chart, '--create-namespace', '--wait', '--timeout', '2m');
  await expect(provision(instance, report)).resolves.toContain('kubeconfig');
});

test('an upgrade of the release changes the operator, and no control plane', async () => {
  const before = await pods();
  await helm(
    'upgrade',
    release,
    chart,
    '--set',
    'replicas=1',
    '--set',
    'env.LOG_LEVEL=debug',
    '--wait',
    '--timeout',
    '2m',
  );
  expect(await kubectl(instance, ['get', ...operator, '--output', 'jsonpath={.spec.replicas}'])).toBe('1');
  expect(await pods()).toBe(before);
});

test('the control plane serves on when the release is uninstalled, and its object stays', async () => {
  const before = await pods();
  await helm('uninstall', release, '--wait', '--timeout', '2m');
  expect(await kubectl(instance, ['get', ...operator, '--ignore-not-found'])).toBe('');
  expect(await kubectl(instance, ['get', 'hcp', demoCluster.name, '--namespace', demoCluster.namespace])).toContain(
    'v1.37',
  );
  expect(await pods()).toBe(before);
  await withHostedApi(instance, demoCluster, async ({ client }) => expect(await client.raw('/readyz')).toBe('ok'));
});
