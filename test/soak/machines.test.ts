import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { KubeadmConfigTemplate } from '../../imports/bootstrap.cluster.x-k8s.io.ts';
import { MachineDeployment } from '../../imports/cluster.x-k8s.io.ts';
import { clusterNameLabel } from '../../constructs/api/group.ts';
import { Node } from '../../constructs/api/resources.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import {
  infrastructureGroup,
  TestbedCluster,
  TestbedMachinePool,
  TestbedMachineTemplate,
} from '../infrastructure-provider/kinds.ts';
import { startInfrastructureProvider } from '../infrastructure-provider/start.ts';
import type { ChildProgram } from '../support/child-program.ts';
import { onceWebhooksAnswer } from '../support/cluster-api-webhooks.ts';
import { installProvider, removeProvider } from '../support/provider.ts';
import { until } from '../support/until.ts';
import { kubernetesVersion, single, Workbench } from '../support/workbench.ts';
import { installAddon } from '../tools/testbed/addons.ts';
import { instanceFrom } from '../tools/testbed/instance.ts';
import { addMinor } from '../tools/testbed/further-minor.ts';
import { kubectl } from '../tools/testbed/kubectl.ts';
import { findMachine, inMachine } from '../tools/testbed/machine.ts';
import { withHostedApi } from '../tools/testbed/workers.ts';

// Cluster API core, its kubeadm bootstrap provider, this provider and one of infrastructure, each as its own process.
const instance = instanceFrom(process.env, inject('testbed'));
const namespace = 'machines';
const name = 'c1';
const limitMs = 300_000;
const kubelet = ['pkill', '-STOP', '-x', 'kubelet'] as const;
let bench: Workbench;
let infrastructure: ChildProgram;

beforeAll(async () => {
  const report = (line: string) => console.log(line);
  await installAddon(instance, 'kubeadm-bootstrap', report);
  await installProvider(instance, report);
  infrastructure = await startInfrastructureProvider(instance);
  bench = await Workbench.open(inject('kubeconfig'), namespace);
  await apply([{ apiVersion: TestbedCluster.apiVersion, kind: TestbedCluster.kind, metadata: { namespace, name } }]);
  const infrastructureRef = { apiGroup: infrastructureGroup, kind: TestbedCluster.kind, name };
  await bench.create(name, { ...single, exposure: { loadBalancer: {} } }, { infrastructureRef });
  await bench.untilReady(name, limitMs);
});
afterAll(async () => {
  await bench?.deleteAll();
  await bench?.close();
  await infrastructure?.end();
  await removeProvider(instance);
});

function apply(objects: readonly object[]): Promise<void> {
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
  return onceWebhooksAnswer(() => kubectl(instance, ['apply', '--server-side', '--filename', '-'], list));
}

interface NodeObject extends KubeObject {
  readonly status?: {
    readonly nodeInfo?: { readonly kubeletVersion: string };
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

/** Names of Ready Nodes. */
async function nodes(): Promise<string[]> {
  return withHostedApi(instance, { namespace, name }, async ({ client }) => {
    const { items } = await client.list<NodeObject>(Node);
    const isReady = ({ status }: NodeObject) =>
      status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True');
    return items.filter(isReady).map(({ metadata }) => metadata.name);
  });
}

function untilNodes(what: string, isWanted: (names: readonly string[]) => boolean): Promise<string[]> {
  let seen: readonly string[] = [];
  const wanted = async () => {
    const names = await nodes();
    seen = names;
    return isWanted(names) && names;
  };
  return until(what, wanted, limitMs, () => seen);
}

const machineTemplate = {
  apiVersion: TestbedMachineTemplate.apiVersion,
  kind: TestbedMachineTemplate.kind,
  metadata: { namespace, name },
  spec: { template: { spec: {} } },
};
const bootstrapRef = (kind: string) => ({ apiGroup: 'bootstrap.cluster.x-k8s.io', kind, name });
const pooled = (node: string) => node.startsWith('pool-');

/** The versions of the kubelets of the pool's Ready Nodes. */
async function pooledKubelets(): Promise<string[]> {
  const ready = await nodes();
  return withHostedApi(instance, { namespace, name }, async ({ client }) => {
    const { items } = await client.list<NodeObject>(Node);
    const own = items.filter(({ metadata }) => pooled(metadata.name) && ready.includes(metadata.name));
    return own.map(({ status }) => status?.nodeInfo?.kubeletVersion ?? '');
  });
}

test('a MachineDeployment makes Nodes of machines that only know their bootstrap data', async () => {
  const labels = { [clusterNameLabel]: name, pool: 'a' };
  await apply([
    machineTemplate,
    KubeadmConfigTemplate.manifest({
      metadata: { namespace, name },
      spec: { template: { spec: { format: 'cloud-config' } } },
    }),
    MachineDeployment.manifest({
      metadata: { namespace, name },
      spec: {
        clusterName: name,
        replicas: 1,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            clusterName: name,
            version: kubernetesVersion,
            bootstrap: { configRef: bootstrapRef(KubeadmConfigTemplate.GVK.kind) },
            infrastructureRef: { apiGroup: infrastructureGroup, kind: TestbedMachineTemplate.kind, name },
          },
        },
      },
    }),
  ]);
  expect(await untilNodes('a Node', (names) => names.length === 1)).toHaveLength(1);
});

test('a MachineHealthCheck replaces a machine whose kubelet is silent', async () => {
  const [silent = ''] = await nodes();
  const condition = (status: string) => ({ type: 'Ready', status, timeoutSeconds: 5 });
  await apply([
    {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'MachineHealthCheck',
      metadata: { namespace, name },
      spec: {
        clusterName: name,
        selector: { matchLabels: { pool: 'a' } },
        checks: { unhealthyNodeConditions: [condition('Unknown'), condition('False')] },
      },
    },
  ]);
  const machine = await findMachine(instance, silent);
  if (!machine) throw new Error(`no machine ${silent}`);
  await inMachine(machine, kubelet);
  const [replacement] = await untilNodes('another Node', (names) => names.some((one) => one !== silent));
  expect(replacement).not.toBe(silent);
  await until('the silent machine to be gone', async () => !(await findMachine(instance, silent)), limitMs);
});

test('a MachinePool grows, gets another version, and shrinks', async () => {
  const older = await addMinor(instance, '1.36', (line) => console.log(line));
  const pool = (replicas: number, version: string) => [
    {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'MachinePool',
      metadata: { namespace, name: 'pool' },
      spec: {
        clusterName: name,
        replicas,
        template: {
          spec: {
            clusterName: name,
            version,
            bootstrap: { configRef: { ...bootstrapRef('KubeadmConfig'), name: 'pool' } },
            infrastructureRef: { apiGroup: infrastructureGroup, kind: TestbedMachinePool.kind, name: 'pool' },
          },
        },
      },
    },
  ];
  await apply([
    {
      apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
      kind: 'KubeadmConfig',
      metadata: { namespace, name: 'pool' },
      spec: { format: 'cloud-config' },
    },
    {
      apiVersion: TestbedMachinePool.apiVersion,
      kind: TestbedMachinePool.kind,
      metadata: { namespace, name: 'pool' },
      spec: {},
    },
    ...pool(2, older.version),
  ]);
  const two = await untilNodes('two Nodes of the pool', (names) => names.filter(pooled).length === 2);
  expect(two.filter(pooled).sort()).toEqual(['pool-0', 'pool-1']);
  expect(await pooledKubelets()).toEqual([older.kubelet, older.kubelet]);

  await apply(pool(2, kubernetesVersion));
  const newer = [kubernetesVersion, kubernetesVersion];
  await until(
    'the kubelets of the other version',
    async () => isDeepStrictEqual(await pooledKubelets(), newer),
    limitMs,
  );
  await apply(pool(1, kubernetesVersion));
  await until('the last machine of the pool to be gone', async () => !(await findMachine(instance, 'pool-1')), limitMs);
  expect((await nodes()).filter(pooled)).toContain('pool-0');
});

test('all machines go with their Cluster', async () => {
  const before = await nodes();
  expect(before.length).toBeGreaterThan(1);
  await bench.delete(name, limitMs);
  const left = await Promise.all(before.map((node) => findMachine(instance, node)));
  expect(left.filter(Boolean)).toEqual([]);
});
