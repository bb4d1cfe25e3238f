import { join } from 'node:path';
import { Cluster, HostedControlPlane } from '../../constructs/api/resources.ts';
import { elapsed, prepareManagement } from '../disaster/disaster.ts';
import { cluster, fillSafe, follow, hcp, provision } from '../disaster/hosted-cluster.ts';
import { downloadKubeconfig, type Endpoint, endpointOf, openKubeconfig } from '../disaster/kubeconfig.ts';
import { tracesOf, untilNodeReports, type WorkerTraces } from '../disaster/worker-traces.ts';
import { pageAddresses, readPages, readSealed, runPods } from '../disaster/workload.ts';
import { startApiServer } from '../support/api-server.ts';
import { NumberedConfigMaps } from '../support/numbered-config-maps.ts';
import type { HostedControlPlaneObject } from '../support/workbench.ts';
import { clientOf } from '../tools/testbed/access.ts';
import { bringUp } from '../tools/testbed/bring-up.ts';
import { applyObjects } from '../tools/testbed/apply-objects.ts';
import { clusterctl, startClusterctl } from '../tools/testbed/clusterctl.ts';
import { clusterApiCore, providerComponents } from '../tools/testbed/components.ts';
import { binDirectory, type Instance } from '../tools/testbed/instance.ts';
import { kubectl } from '../tools/testbed/kubectl.ts';
import { loseManagement, replaceManagement } from '../tools/testbed/management-loss.ts';
import { type Report, step, until } from '../tools/testbed/progress.ts';
import { addWorker } from '../tools/testbed/workers.ts';

/** The observations of a control plane that clusterctl has moved to another management cluster. */
export interface Moved {
  readonly before: Seen;
  readonly after: Seen;
  /** A direct move without a preparation: the last words of clusterctl, and the Clusters at its destination. */
  readonly unprepared: { readonly said: string; readonly clusters: readonly string[] };
  /** What the old management cluster said, and had, when clusterctl had saved the objects. */
  readonly left: { readonly condition: string | undefined; readonly pods: readonly string[] };
  readonly writes: {
    readonly acknowledged: number;
    /** Numbers of writes that were acknowledged before the preparation, or during it, and do not exist. */
    readonly lost: readonly number[];
    /** The same for those that the other management cluster acknowledged. */
    readonly lostSince: readonly number[];
  };
  readonly seconds: {
    readonly prepare: number;
    readonly save: number;
    /** From the start of clusterctl in the other management cluster until the endpoint answers there. */
    readonly restore: number;
    /** Until the control plane is Ready there, and the worker's kubelet has reported. */
    readonly complete: number;
  };
}

interface Seen {
  readonly worker: WorkerTraces;
  readonly endpoint: Endpoint;
  readonly pages: readonly string[];
  /** The content of a Secret, which etcd keeps encrypted. */
  readonly sealed: string;
}

/**
 * Moves a control plane with a worker as its users do: `hcp move prepare`, and `clusterctl move` by way of a directory, because
 * the other management cluster takes the place of the first one, with its addresses. What it brings up stays.
 */
export async function runMove(instance: Instance, directory: string, report: Report): Promise<Moved> {
  report('1. a management cluster, a bucket outside of it, and a hosted cluster with a worker');
  await bringUp(instance, report);
  await prepareManagement(instance, report);
  await provision(instance, fillSafe(), report);
  const { machine } = await addWorker(instance, cluster, report);
  await runPods(instance, machine.name, report);
  const kubeconfig = await downloadKubeconfig(instance);
  const addresses = await pageAddresses(instance);
  const observe = async (): Promise<Seen> => ({
    worker: await tracesOf(machine),
    endpoint: endpointOf(await downloadKubeconfig(instance)),
    pages: await readPages(machine, addresses),
    sealed: await readSealed(instance),
  });
  const before = await observe();
  const client = openKubeconfig(instance, kubeconfig);
  try {
    const writer = new NumberedConfigMaps({ client });
    await writer.untilMore(20);
    const { namespace, name } = cluster;
    const unprepared = await step(report, '2. clusterctl move, which waits for the preparation', () =>
      moveUnprepared(instance),
    );
    const prepare = await elapsed(() =>
      step(report, '3. hcp move prepare', () => hcp(instance, ['move', 'prepare', name, '-n', namespace, '--wait'])),
    );
    await writer.stop();
    const move = ['move', '--namespace', namespace];
    const save = await elapsed(() =>
      step(report, '4. clusterctl move --to-directory', () =>
        clusterctl(instance, [...move, '--to-directory', directory]),
      ),
    );
    const left = await observeLeft(instance);
    report('5. another management cluster at the same addresses, without any volume of the first one');
    await loseManagement(instance, report);
    await replaceManagement(instance, report);
    await prepareManagement(instance, report);
    const start = performance.now();
    const patient = new NumberedConfigMaps({ client });
    await step(report, '6. clusterctl move --from-directory', () =>
      clusterctl(instance, [...move, '--from-directory', directory]),
    );
    await patient.untilMore(1, 300_000);
    const restore = (performance.now() - start) / 1000;
    await follow(instance, start, report);
    await untilNodeReports(client, machine.name, Date.now());
    const complete = (performance.now() - start) / 1000;
    await patient.untilMore(20);
    await patient.stop();
    return {
      before,
      after: await observe(),
      unprepared,
      left,
      writes: {
        acknowledged: writer.acknowledged,
        lost: await writer.lost(),
        lostSince: await patient.lost(),
      },
      seconds: { prepare, save, restore, complete },
    };
  } finally {
    await client.connection.close();
  }
}

/** Begins a move to another API server, and interrupts it when it waits; the Cluster is resumed as the documentation says. */
async function moveUnprepared(instance: Instance): Promise<Moved['unprepared']> {
  const server = await startApiServer();
  try {
    const kubectlPath = join(binDirectory(instance), 'kubectl');
    const core = await providerComponents(instance.cache, clusterApiCore, kubectlPath, () => {});
    await applyObjects(
      server.client,
      core.filter(({ kind }) => kind === 'CustomResourceDefinition'),
    );
    const { namespace, name } = cluster;
    const args = ['move', '--namespace', namespace, '--to-kubeconfig', server.kubeconfig];
    const { child, said } = startClusterctl(instance, args);
    await until({ what: 'clusterctl to wait', timeoutMs: 60_000 }, async () => {
      if (child.exitCode !== null) throw new Error(`clusterctl ended: ${said()}`);
      return said().includes('Move blocked by');
    });
    child.kill();
    const { items } = await server.client.list(Cluster, {});
    const resume = ['patch', 'cluster', name, '--type=merge', '--patch={"spec":{"paused":false}}'];
    await kubectl(instance, ['--namespace', namespace, ...resume]);
    return { said: said(), clusters: items.map(({ metadata }) => metadata.name) };
  } finally {
    await server.stop();
  }
}

async function observeLeft(instance: Instance): Promise<Moved['left']> {
  const { namespace } = cluster;
  const client = await clientOf(instance);
  try {
    const { status } = await client.get<HostedControlPlaneObject>(HostedControlPlane, cluster);
    const found = status?.conditions?.find(({ type }) => type === 'NoMovePending');
    const pods = await kubectl(instance, ['get', 'pods', '--namespace', namespace, '--output', 'name']);
    return { condition: found?.reason, pods: pods.trim().split('\n') };
  } finally {
    await client.connection.close();
  }
}
