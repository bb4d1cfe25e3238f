import { setTimeout } from 'node:timers/promises';
import { Pod } from '../../constructs/api/resources.ts';
import { clusterNameLabel } from '../../constructs/api/group.ts';
import { componentLabel } from '../../constructs/cluster/labels.ts';
import { prepareManagement } from '../disaster/disaster.ts';
import { applySecrets, cluster, fillSafe, hcp, secretNames } from '../disaster/hosted-cluster.ts';
import { downloadKubeconfig, openKubeconfig } from '../disaster/kubeconfig.ts';
import { startInfrastructureProvider } from '../infrastructure-provider/start.ts';
import { NumberedConfigMaps } from '../support/numbered-config-maps.ts';
import { ContinuousUser } from '../support/continuous-user.ts';
import type { ChildProgram } from '../support/child-program.ts';
import { kubernetesVersion } from '../support/workbench.ts';
import { installAddon } from '../tools/testbed/addons.ts';
import { clientOf } from '../tools/testbed/access.ts';
import { bringUp } from '../tools/testbed/bring-up.ts';
import { clusterctl } from '../tools/testbed/clusterctl.ts';
import { addMinor } from '../tools/testbed/further-minor.ts';
import type { Instance } from '../tools/testbed/instance.ts';
import { machineNames } from '../tools/testbed/machine.ts';
import { loseManagement, replaceManagement } from '../tools/testbed/management-loss.ts';
import { type Report, until } from '../tools/testbed/progress.ts';
import { classes, createClasses } from './classes.ts';
import { generationsIn } from './generations.ts';
import { type Lived, TimeLine } from './time-line.ts';
import { TopologyCluster } from './topology-cluster.ts';

const idleMs = 300_000;

/** The observations of a Cluster with a topology, from its creation to its deletion. */
export interface Life {
  readonly steps: readonly Lived[];
  /** The generations of everything in its namespace before and after five minutes without a change. */
  readonly idle: { readonly before: ReadonlyMap<string, string>; readonly after: ReadonlyMap<string, string> };
  /** Minors of kubelets and of the API server that were seen together during the upgrade. */
  readonly pairs: readonly string[];
  /** Pods of the control plane before and after a change of its class, by name. */
  readonly rebased: { readonly before: readonly string[]; readonly after: readonly string[] };
  /** API servers in the spec after an autoscaler set 3, and topology has written the object again and again. */
  readonly autoscaled: number | undefined;
  /** Machines with their Nodes and ids before the move, and after it. */
  readonly moved: { readonly before: readonly string[]; readonly after: readonly string[] };
  readonly writes: { readonly acknowledged: number; readonly lost: readonly number[] };
  /** Machines of this host when the Cluster is gone, besides that of the management cluster. */
  readonly left: readonly string[];
}

/**
 * Lets a Cluster of the shipped ClusterClass live with two MachineDeployments and a writer: create, scale, upgrade, change of
 * class, move and deletion. What it brings up stays.
 */
export async function live(instance: Instance, directory: string, report: Report): Promise<Life> {
  const line = new TimeLine(report);
  const topology = new TopologyCluster(instance, cluster);
  let provider = await line.step('a management cluster with Cluster API, the providers and both classes', async () => {
    await bringUp(instance, report);
    const started = await prepare(instance, report);
    await applySecrets(instance, fillSafe(), report);
    await createClasses(instance, cluster.namespace);
    return started;
  });
  const { version: older } = await addMinor(instance, '1.36', report);
  // what runs ends in the reverse order, also when a step fails
  await using running = new AsyncDisposableStack();
  running.defer(() => provider.end());
  await line.step(`create: Kubernetes ${older}, two MachineDeployments of one machine each`, async () => {
    await topology.create(older, { a: 1, b: 1 });
    await topology.untilWorkers(older, 2);
    await topology.untilAvailable();
  });
  const client = openKubeconfig(instance, await downloadKubeconfig(instance));
  running.defer(() => client.connection.close());
  const writer = new NumberedConfigMaps({ client });
  running.defer(() => writer.stop());
  const idle = await line.step('five idle minutes', async () => {
    const generations = () => generationsIn(instance, cluster.namespace);
    const before = await generations();
    // The test is about this time.
    await setTimeout(idleMs);
    return { before, after: await generations() };
  });
  await line.step('scale: 3 API servers as an autoscaler does, one MachineDeployment to two machines', async () => {
    await topology.scaleControlPlane(3);
    await topology.scale({ a: 2, b: 1 });
    await topology.untilWorkers(older, 3);
  });
  const pairs = new VersionPairs(topology);
  running.defer(() => pairs.stop());
  await line.step(`upgrade to ${kubernetesVersion}`, async () => {
    await topology.own({ upgrade: { hold: '0s' } });
    await topology.change({ version: kubernetesVersion });
    await topology.untilWorkers(kubernetesVersion, 3);
  });
  await pairs.stop();
  const before = await podsOf(instance);
  await line.step('change of class: larger machines take the place of all', async () => {
    const old = new Set((await topology.machines()).map(({ metadata }) => metadata.name));
    await topology.change({ classRef: { name: classes.second } });
    await untilReplaced(topology, old);
    await topology.untilWorkers(kubernetesVersion, 3);
  });
  const after = await podsOf(instance);
  const autoscaled = await topology.replicas();
  const { namespace } = cluster;
  await line.step('hcp move prepare, after its owner has given it a bucket', async () => {
    await topology.own({
      etcd: {
        backup: {
          schedule: '@daily',
          secret: { name: secretNames.store },
          encryption: { secretName: secretNames.keys },
          verify: { disabled: true },
        },
      },
    });
    await hcp(instance, ['move', 'prepare', cluster.name, '-n', namespace, '--wait']);
  });
  await writer.stop();
  const known = await identities(topology);
  await line.step('clusterctl move by way of a directory, to a management cluster that takes the place', async () => {
    await clusterctl(instance, ['move', '--namespace', namespace, '--to-directory', directory]);
    await provider.end();
    await loseManagement(instance, report);
    await replaceManagement(instance, report);
    provider = await prepare(instance, report);
    await clusterctl(instance, ['move', '--namespace', namespace, '--from-directory', directory]);
    await topology.untilWorkers(kubernetesVersion, 3);
  });
  const moved = { before: known, after: await identities(topology) };
  await line.step('scale in the other management cluster', async () => {
    await topology.scale({ a: 1, b: 1 });
    await topology.untilWorkers(kubernetesVersion, 2);
  });
  await line.step('topology.controlPlane.replicas: 2, which takes the number back from the autoscaler', async () => {
    await topology.change({ controlPlane: { replicas: 2 } });
    await topology.untilReplicas(2);
    await topology.scaleControlPlane(3);
    await topology.untilReplicas(2);
  });
  const writes = { acknowledged: writer.acknowledged, lost: await writer.lost() };
  await line.step('deletion', () => topology.delete());
  const left = (await machineNames(instance)).filter((name) => name !== 'm');
  return { steps: line.steps, idle, pairs: pairs.seen, rebased: { before, after }, autoscaled, moved, writes, left };
}

async function prepare(instance: Instance, report: Report): Promise<ChildProgram> {
  await prepareManagement(instance, report);
  await installAddon(instance, 'kubeadm-bootstrap', report);
  return startInfrastructureProvider(instance);
}

/** Notes which versions of the API server and of Machines exist at the same time. */
class VersionPairs extends ContinuousUser {
  readonly #seen = new Set<string>();

  constructor(topology: TopologyCluster) {
    super();
    this.begin(500, async () => {
      const [{ status }, machines] = [await topology.get(), await topology.machines()];
      for (const { spec } of machines) this.#seen.add(`API server ${status?.version}, Machine ${spec.version}`);
    });
  }

  get seen(): string[] {
    return [...this.#seen].sort();
  }
}

async function untilReplaced(topology: TopologyCluster, old: ReadonlySet<string>): Promise<void> {
  await until({ what: 'other machines', timeoutMs: 600_000 }, async () =>
    (await topology.machines()).every(({ metadata }) => !old.has(metadata.name)),
  );
}

async function podsOf(instance: Instance): Promise<string[]> {
  const client = await clientOf(instance);
  try {
    const selection = { namespace: cluster.namespace, labelSelector: `${clusterNameLabel}=${cluster.name}` };
    const { items } = await client.list(Pod, selection);
    return items
      .filter(({ metadata }) => metadata.labels?.[componentLabel])
      .map(({ metadata }) => metadata.name)
      .sort();
  } finally {
    await client.connection.close();
  }
}

async function identities(topology: TopologyCluster): Promise<string[]> {
  const machines = await topology.machines();
  return machines.map(({ spec, status }) => `${spec.providerID} is ${status?.nodeRef?.name}`).sort();
}
