import type { SecretObject } from '../../../imports/kubernetes.ts';
import { HostedControlPlane, Secret } from '../../../constructs/api/resources.ts';
import { valueOf } from '../../../reconciler/pki/secret.ts';
import { withPodStates } from '../../support/pod-states.ts';
import type { HostedControlPlaneObject, Workbench } from '../../support/workbench.ts';
import { until } from '../testbed/progress.ts';
import { untilUsable } from './floor.ts';
import { type Milestones, PodMilestones } from './pod-milestones.ts';

/** Of a watch that must see a condition change. */
const limitSeconds = 180;

/** The time of each state, in milliseconds since the Cluster and the HostedControlPlane were applied. */
export interface Provisioning {
  /** All replicas of the spec are ready, and the kubeconfig and the controllers of the hosted cluster work. */
  readonly ready: number;
  /** The kubeconfig works. */
  readonly answers: number;
  /** The kubeconfig and the hosted controllers work. */
  readonly usable: number;
  /** Conditions in the order in which they became True. */
  readonly timeLine: readonly { readonly what: string; readonly ms: number }[];
  readonly milestones: Milestones;
}

/** The first entry of a timeline: the operator may start to work. */
const ownerNamed = 'Cluster API has named the owner';

/** Applies a Cluster and its HostedControlPlane and waits as its user would. */
export async function measureProvisioning(bench: Workbench, cluster: string, spec: object): Promise<Provisioning> {
  const start = performance.now();
  const since = () => performance.now() - start;
  const pods = new PodMilestones();
  const over = new AbortController();
  const { client, namespace } = bench;
  const following = pods.follow(client, { namespace, cluster }, start, over.signal);
  try {
    await bench.create(cluster, spec);
    const [answers, usable] = [Promise.withResolvers<number>(), Promise.withResolvers<number>()];
    const [timeLine] = await withPodStates(client, namespace, () =>
      Promise.all([
        followUntilReady(bench, cluster, start),
        untilKubeconfig(bench, cluster)
          .then((kubeconfig) => untilUsable(kubeconfig, () => answers.resolve(since())))
          .then(() => usable.resolve(since())),
      ]),
    );
    const ready = since();
    const named = timeLine.find(({ what }) => what === ownerNamed)?.ms ?? 0;
    const milestones = { ...pods.reached(), ownerNamed: named };
    return { ready, answers: await answers.promise, usable: await usable.promise, timeLine, milestones };
  } finally {
    over.abort();
    await following;
  }
}

/** @param start a `performance.now()`, the start of the times */
async function followUntilReady(bench: Workbench, cluster: string, start: number): Promise<Provisioning['timeLine']> {
  const timeLine: { what: string; ms: number }[] = [];
  const seen = new Set<string>();
  for await (const { status, metadata } of statesOf(bench, cluster)) {
    if (metadata.ownerReferences?.length && !seen.has('owned')) {
      seen.add('owned');
      timeLine.push({ what: ownerNamed, ms: performance.now() - start });
    }
    for (const { type, status: value } of status?.conditions ?? []) {
      if (value !== 'True' || seen.has(type)) continue;
      seen.add(type);
      timeLine.push({ what: type, ms: performance.now() - start });
    }
    if (seen.has('Ready')) return timeLine;
  }
  const { status } = await bench.get(cluster);
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  throw new Error(
    `${cluster} is not Ready, and no condition of it changed for ${limitSeconds} s: ${ready?.message ?? 'it has no conditions'}`,
  );
}

/** The HostedControlPlane at each of its changes. Ends with a watch in which no condition has changed. */
async function* statesOf({ client, namespace }: Workbench, cluster: string): AsyncGenerator<HostedControlPlaneObject> {
  let conditions = '';
  for (let before; before !== conditions;) {
    before = conditions;
    const events = client.watch<HostedControlPlaneObject>(HostedControlPlane, {
      namespace,
      fieldSelector: `metadata.name=${cluster}-cp`,
      timeoutSeconds: limitSeconds,
    });
    for await (const event of events) {
      if (event.type === 'BOOKMARK' || event.type === 'DELETED') continue;
      conditions = JSON.stringify(event.object.status?.conditions ?? []);
      yield event.object;
    }
  }
}

async function untilKubeconfig({ client, namespace }: Workbench, cluster: string): Promise<string> {
  return until({ what: `kubeconfig of ${cluster}`, timeoutMs: 120_000, intervalMs: 100 }, async () => {
    return valueOf(await client.find<SecretObject>(Secret, { namespace, name: `${cluster}-kubeconfig` }), 'value');
  });
}

/** Deletes a Cluster; milliseconds until nothing of it is left. */
export async function measureDeletion(bench: Workbench, cluster: string): Promise<number> {
  const start = performance.now();
  await bench.delete(cluster, 120_000);
  return performance.now() - start;
}
