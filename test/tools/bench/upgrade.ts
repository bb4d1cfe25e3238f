import { clusterNameLabel } from '../../../constructs/api/group.ts';
import { Pod } from '../../../constructs/api/resources.ts';
import { minorOf } from '../../../constructs/cluster/versions.ts';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import { isReady, type PodObject } from '../../../reconciler/kube/readiness.ts';
import { ContinuousLoad, type Tally } from '../../support/continuous-load.ts';
import { kubernetesVersion, Workbench } from '../../support/workbench.ts';
import { addMinor } from '../testbed/further-minor.ts';
import { openHostedApi } from '../testbed/hosted-api.ts';
import { type Instance, kubeconfigPath } from '../testbed/instance.ts';
import { until } from '../testbed/progress.ts';
import { benchNamespace, type BenchTestbed } from './bench-testbed.ts';
import type { Figure } from './figure.ts';
import { measureProvisioning } from './product.ts';
import { SeenByPeople } from './seen-by-people.ts';
import { stepEnds } from './upgrade-steps.ts';

const cluster = 'upgraded';
const from = '1.36';
const timeoutMs = 300_000;
/** A read that needs etcd. */
const path = '/api/v1/namespaces/kube-system/configmaps?limit=1';

/**
 * From one minor of Kubernetes to the next while users never stop, and for comparison all pods of the same objects replaced at
 * once, by a user who does not wait.
 */
export async function measureUpgrade({ instance, extent, report }: BenchTestbed): Promise<Figure[]> {
  const { name, replicas, members } = extent.upgrade;
  const { version } = await addMinor(instance, from, report);
  const bench = await Workbench.open(kubeconfigPath(instance), benchNamespace);
  const withoutHold = { hold: '0s' };
  const spec = { version, replicas, etcd: { replicas: members }, exposure: { loadBalancer: {} }, upgrade: withoutHold };
  await measureProvisioning(bench, cluster, spec);

  const steps: Figure[] = [];
  const upgrade = `${name}, ${from} to 1.${minorOf(kubernetesVersion)}`;
  const people = new SeenByPeople(instance, bench.namespace, cluster);
  const described: string[] = [];
  let shown: readonly string[] = [];
  let opened: Promise<KubeClient> | undefined;
  const hosted = () => (opened ??= openHosted(instance, bench));
  const upgraded = await underLoad(instance, bench, async () => {
    const start = performance.now();
    shown = await people.during(async () => {
      await bench.patch(cluster, { spec: { version: kubernetesVersion } });
      for (const [what, isOver] of Object.entries(stepEnds)) {
        await until({ what: `${what} of ${cluster}`, timeoutMs, intervalMs: 100 }, () =>
          isOver({ bench, cluster, hosted }),
        );
        const value = (performance.now() - start) / 1000;
        steps.push({ name: `${upgrade}: ${what}, since the change`, value, unit: 's' });
        described.push(`after ${value.toFixed(1)} s, ${what}:`, await people.describe());
      }
    });
  });
  await (await hosted()).connection.close();
  report(['kubectl get hcp --watch:', ...shown, 'clusterctl describe cluster:', ...described].join('\n'));
  for (const reason of unanswered(upgraded)) report(`without an answer on its connection: ${reason}`);
  const atOnce = `${name}, all pods at once`;
  let ready = Number.NaN;
  const replaced = await underLoad(instance, bench, async () => {
    const start = performance.now();
    await replaceAll(bench);
    ready = (performance.now() - start) / 1000;
  });
  await bench.client.connection.close();
  return [
    ...steps,
    ...requestFigures(upgrade, upgraded, { atMost: 0 }),
    { name: `${atOnce}: ready`, value: ready, unit: 's' },
    ...requestFigures(atOnce, replaced),
  ];
}

async function openHosted(instance: Instance, { client, namespace }: Workbench): Promise<KubeClient> {
  return (await openHostedApi(instance, client, { namespace, name: cluster })).client;
}

/** What a writer and a reader see during the work. */
async function underLoad(instance: Instance, bench: Workbench, work: () => Promise<void>): Promise<ContinuousLoad> {
  const load = new ContinuousLoad({ open: () => openHosted(instance, bench), path });
  try {
    await work();
  } finally {
    await load.stop();
  }
  return load;
}

async function replaceAll(bench: Workbench): Promise<void> {
  const { client, namespace } = bench;
  const selection = { namespace, labelSelector: `${clusterNameLabel}=${cluster}` };
  const { items: old } = await client.list<PodObject>(Pod, selection);
  const gone = new Set(old.map(({ metadata }) => metadata.uid));
  await Promise.all(old.map(({ metadata }) => client.delete(Pod, { namespace, name: metadata.name })));
  await until({ what: `new pods of ${cluster}`, timeoutMs, intervalMs: 100 }, async () => {
    const { items } = await client.list<PodObject>(Pod, selection);
    return items.length === old.length && items.every((pod) => isReady(pod) && !gone.has(pod.metadata.uid));
  });
}

/** Why requests had no answer on their first connection, or none at all. */
function unanswered({ writes, calls }: ContinuousLoad): string[] {
  const lines = (what: string, { reasons, failures }: Tally) =>
    [...reasons, ...failures].map((why) => `${what}: ${why}`);
  return [...lines('a write', writes), ...lines('a read', calls)];
}

function requestFigures(name: string, { writes, calls }: ContinuousLoad, goal?: Figure['goal']): Figure[] {
  const all = [writes, calls];
  const sum = (count: (tally: (typeof all)[number]) => number) => all.reduce((total, tally) => total + count(tally), 0);
  // A write that got no answer has failed, even if it succeeded when it was repeated. A read may be repeated once.
  const failed = sum(({ failures }) => failures.length) + writes.reconnects;
  const unit = 'requests';
  return [
    {
      name: `${name}: sent`,
      value: sum(({ answered, reconnects, failures }) => answered + reconnects + failures.length),
      unit,
    },
    { name: `${name}: failed`, value: failed, unit, ...(goal && { goal }) },
    { name: `${name}: slower than a second`, value: sum(({ slow }) => slow), unit },
  ];
}
