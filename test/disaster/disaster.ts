import { ConfigMap } from '../../constructs/api/resources.ts';
import { parseBackupId } from '../../constructs/cluster/backup-names.ts';
import { NumberedConfigMaps } from '../support/numbered-config-maps.ts';
import { installProvider } from '../support/provider.ts';
import { installAddon } from '../tools/testbed/addons.ts';
import { bringUp } from '../tools/testbed/bring-up.ts';
import type { Instance } from '../tools/testbed/instance.ts';
import { loseManagement, replaceManagement } from '../tools/testbed/management-loss.ts';
import { type Report, step, until } from '../tools/testbed/progress.ts';
import { addWorker } from '../tools/testbed/workers.ts';
import { cluster, fillSafe, provision, rebuild, takeBackup } from './hosted-cluster.ts';
import { downloadKubeconfig, type Endpoint, endpointOf, openKubeconfig, openWithToken } from './kubeconfig.ts';
import { tracesOf, untilNodeReports, type WorkerTraces } from './worker-traces.ts';
import { askFromPod, pageAddresses, readPages, readSealed, runNewPod, runPods, tokenOfPod } from './workload.ts';

/** The observations of a cluster whose management cluster was lost and replaced. */
export interface Rebuilt {
  readonly before: Seen;
  readonly after: Seen;
  /** Answers of the pods' pages before the loss, without any management cluster, and after the rebuild. */
  readonly pages: {
    readonly before: readonly string[];
    readonly meanwhile: readonly string[];
    readonly after: readonly string[];
  };
  /** Writes by the kubeconfig that was downloaded before the loss. */
  readonly writes: Writes;
  /** What a pod reads through its own connection to the API server, and what its token from before the loss reads. */
  readonly pod: { readonly asked: string; readonly byOldToken: string };
  /** The content of a Secret before the loss, and after the rebuild. */
  readonly sealed: { readonly before: string; readonly after: string };
  /** The log of a pod that was created after the rebuild, read through the worker's konnectivity agent. */
  readonly newPod: string;
  readonly seconds: Times;
}

interface Seen {
  readonly worker: WorkerTraces;
  readonly endpoint: Endpoint;
}

interface Writes {
  readonly backup: string;
  /** How many were acknowledged before the loss. */
  readonly acknowledged: number;
  /** Numbers of those that the backup contains and the rebuilt cluster does not. */
  readonly lostOfBackup: readonly number[];
  /** How many were acknowledged after the backup, which are lost. */
  readonly younger: number;
  /** Numbers of those that the rebuilt cluster acknowledged and does not have. */
  readonly lostSince: readonly number[];
}

interface Times {
  /** From the loss until the endpoint accepted a write again, by the old kubeconfig. */
  readonly silence: number;
  /** From the first Secret in the new management cluster until the control plane was ready. */
  readonly rebuild: number;
  /** From then, too, until the worker's kubelet had reported. */
  readonly worker: number;
}

/**
 * Brings up everything from nothing, loses the management cluster, and rebuilds the hosted cluster in a new one from its
 * newest backup. What it brings up stays. Throws if a step fails.
 */
export async function runDisaster(instance: Instance, report: Report): Promise<Rebuilt> {
  const safe = fillSafe();
  report('1. a management cluster with the provider and a Gateway; a bucket outside of it');
  await bringUp(instance, report);
  await prepareManagement(instance, report);
  report('2. a Cluster whose HostedControlPlane has encrypted backups: test/disaster/cluster.yaml');
  await provision(instance, safe, report);
  report('3. a worker that runs pods, and an administrator who writes');
  const { machine } = await addWorker(instance, cluster, report);
  await runPods(instance, machine.name, report);
  const kubeconfig = await downloadKubeconfig(instance);
  const token = await tokenOfPod(instance);
  const addresses = await pageAddresses(instance);
  const before = { worker: await tracesOf(machine), endpoint: endpointOf(kubeconfig) };
  const sealed = await readSealed(instance);
  const pagesBefore = await readPages(machine, addresses);
  const client = openKubeconfig(instance, kubeconfig);
  try {
    const writer = new NumberedConfigMaps({ client });
    await writer.untilMore(20);
    const backup = await takeBackup(instance, report);
    // writes after the backup show that only those are lost
    await writer.untilMore(20);

    report('4. the disaster: etcd, keys, pods and volumes of the management cluster are gone for good');
    await loseManagement(instance, report);
    await writer.stop();
    const patient = new NumberedConfigMaps({ client });
    const meanwhile = await step(report, `pods on ${machine.name} still answer`, () => readPages(machine, addresses));
    report('5. a fresh management cluster with the provider, which knows nothing of the hosted cluster');
    await replaceManagement(instance, report);
    await prepareManagement(instance, report);
    report('6. Cluster and HostedControlPlane from the newest backup, with its data and its keys');
    const [ready, reported] = await Promise.all([
      elapsed(() => rebuild(instance, safe, report)),
      elapsed(() =>
        step(report, `node ${machine.name} Ready, by its unchanged kubelet`, () =>
          untilNodeReports(client, machine.name, Date.now()),
        ),
      ),
    ]);
    await patient.untilMore(20);
    await patient.stop();

    report('7. what there is');
    return {
      before,
      after: { worker: await tracesOf(machine), endpoint: endpointOf(await downloadKubeconfig(instance)) },
      pages: { before: pagesBefore, meanwhile, after: await readPages(machine, addresses) },
      writes: await compare(writer, patient, backup),
      pod: {
        // Agents detect within two minutes that their server is gone.
        asked: await until({ what: 'an answer through an agent', timeoutMs: 180_000 }, () => askFromPod(instance)),
        byOldToken: await askWith(instance, before.endpoint, token),
      },
      sealed: { before: sealed, after: await readSealed(instance) },
      newPod: await runNewPod(instance),
      seconds: {
        silence: patient.longestStallMs / 1000,
        rebuild: ready,
        worker: reported,
      },
    };
  } finally {
    await client.connection.close();
  }
}

/** Everything that does not belong to a hosted cluster. */
export async function prepareManagement(instance: Instance, report: Report): Promise<void> {
  await installAddon(instance, 'traefik', report);
  await installAddon(instance, 's3', report);
  await installProvider(instance, report);
}

/** How long the work takes, in seconds. */
export async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

async function compare(before: NumberedConfigMaps, since: NumberedConfigMaps, backup: string): Promise<Writes> {
  const lostOfBackup = await before.lost(parseBackupId(backup)?.revision);
  const lost = await before.lost();
  return {
    backup,
    acknowledged: before.acknowledged,
    lostOfBackup,
    younger: lost.length - lostOfBackup.length,
    lostSince: await since.lost(),
  };
}

/** Reads what pods of its namespace may read, with a pod's token; returns the pod's name. */
async function askWith(instance: Instance, endpoint: Endpoint, token: string): Promise<string> {
  const client = openWithToken(instance, endpoint, token);
  try {
    const { kind, metadata } = await client.get(ConfigMap, { namespace: 'default', name: 'kube-root-ca.crt' });
    return `${kind.toLowerCase()}/${metadata.name}`;
  } finally {
    await client.connection.close();
  }
}
