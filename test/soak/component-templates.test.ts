import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { HostedControlPlaneComponentTemplate, Node } from '../../constructs/api/resources.ts';
import { TestbedCluster, TestbedMachineTemplate, testbedPrefix } from '../infrastructure-provider/kinds.ts';
import { startInfrastructureProvider } from '../infrastructure-provider/start.ts';
import type { ChildProgram } from '../support/child-program.ts';
import { onceWebhooksAnswer } from '../support/cluster-api-webhooks.ts';
import { typeInto } from '../support/page-shell.ts';
import { readPage } from '../support/pages.ts';
import { installProvider, removeProvider } from '../support/provider.ts';
import { machinesOf, untilNodes } from '../support/stacks/cluster-with-workers.ts';
import { kubernetesVersion, Workbench } from '../support/workbench.ts';
import { installAddon } from '../tools/testbed/addons.ts';
import { instanceFrom } from '../tools/testbed/instance.ts';
import { kubectl } from '../tools/testbed/kubectl.ts';
import { repository } from '../tools/testbed/operator-bundle.ts';
import { withHostedApi } from '../tools/testbed/workers.ts';

// The page from its first block to its last, as a reader types them.
const { blocks } = await readPage('constructs/pod/README.md');
const [template = ''] = blocks.filter(({ language }) => language === 'yaml').map(({ content }) => content);
const [create = '', look = '', change = '', scale = '', remove = ''] = blocks
  .filter(({ language }) => language === 'sh')
  .map(({ content }) => content);
const [shown = ''] = blocks.filter(({ language }) => language === 'text').map(({ content }) => content);

const instance = instanceFrom(process.env, inject('testbed'));
const report = (line: string): void => console.log(line);
const cluster = { namespace: 'clusters', name: 'team-1' };
let directory: string;
let infrastructure: ChildProgram;
let bench: Workbench;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'page-'));
  await symlink(join(repository, 'dist'), join(directory, 'dist'));
  await installAddon(instance, 'kubeadm-bootstrap', report);
  await installProvider(instance, report);
  infrastructure = await startInfrastructureProvider(instance);
  bench = await Workbench.open(inject('kubeconfig'), cluster.namespace);
  const items = [
    { ...TestbedCluster, metadata: cluster, spec: {} },
    { ...TestbedMachineTemplate, metadata: cluster, spec: { template: { spec: {} } } },
  ].map(({ apiVersion, kind, metadata, spec }) => ({ apiVersion, kind, metadata, spec }));
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  await kubectl(instance, ['apply', '--server-side', '--filename', '-'], list);
  await writeFile(join(directory, 'standard-v1.yaml'), template);
  const second = template.replace('name: standard-v1', 'name: standard-v2').replace('v: "2"', 'v: "4"');
  await writeFile(join(directory, 'standard-v2.yaml'), second);
});
afterAll(async () => {
  await bench.deleteAll();
  await bench.close();
  await infrastructure.end();
  await removeProvider(instance);
  await rm(directory, { recursive: true, force: true });
});

const variables = { INFRASTRUCTURE: testbedPrefix, SERVICE_CIDR: '10.128.0.0/16' };
const type = (block: string): Promise<string> => typeInto({ instance, directory, variables }, block);

/** The uids of the pods of each component. */
async function pods(): Promise<Record<string, ReadonlySet<string | undefined>>> {
  const components = ['etcd', 'api-server', 'controller-manager', 'scheduler'] as const;
  const found = components.map(async (component) => {
    const running = (await bench.pods(cluster.name, component)).filter(({ metadata }) => !metadata.deletionTimestamp);
    return [component, new Set(running.map(({ metadata }) => metadata.uid))];
  });
  return Object.fromEntries(await Promise.all(found)) as Awaited<ReturnType<typeof pods>>;
}

const nodes = (): Promise<string[]> =>
  withHostedApi(instance, cluster, async ({ client }) =>
    (await client.list(Node)).items.map(({ metadata }) => metadata.uid ?? ''),
  );

test('a cluster comes up by a component template, with a worker, and says what its components do', async () => {
  await onceWebhooksAnswer(() => type(create));
  expect(await untilNodes(instance, cluster, 1)).toEqual([`testbed ${kubernetesVersion}`]);
  expect((await type(look)).trim()).toBe(shown);
  const [etcd] = await bench.pods(cluster.name, 'etcd');
  expect(etcd?.metadata.labels).toMatchObject({ 'example.com/cost-center': '1234' });
});

test('another template replaces the pod of the scheduler, and neither another one nor the worker', async () => {
  const [before, workers] = [await pods(), await nodes()];
  await type(change);
  await bench.untilRolledOut(cluster.name);
  const { scheduler, ...others } = await pods();
  expect(scheduler).not.toEqual(before['scheduler']);
  expect({ ...others, scheduler: before['scheduler'] }).toEqual(before);
  expect(await nodes()).toEqual(workers);
  await untilNodes(instance, cluster, 1);
});

test('API servers and workers are scaled', async () => {
  await type(scale);
  await untilNodes(instance, cluster, 2);
  await bench.untilRolledOut(cluster.name);
  expect(await bench.pods(cluster.name, 'api-server')).toHaveLength(2);
});

test('it is deleted with its workers, and then the templates', async () => {
  await type(remove);
  expect(await machinesOf(instance, cluster.name)).toEqual([]);
  const { namespace } = cluster;
  expect((await bench.client.list(HostedControlPlaneComponentTemplate, { namespace })).items).toEqual([]);
});
