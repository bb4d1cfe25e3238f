import { expect } from 'vitest';
import { Deployment } from '../../../constructs/api/resources.ts';
import type { MemoryCluster } from './memory-cluster.ts';
import { Network, type Outage } from './network.ts';
import { OperatorPod } from './operator-pod.ts';

/** How precisely times are measured. */
const stepMs = 500;

/** How a fleet has come through one outage. */
export interface Recovery {
  readonly outage: Outage;
  readonly seconds: number;
  /** How many control planes have converged. */
  readonly converged: number;
  /** How long after the return of the API server. */
  readonly afterMs: number;
}

/**
 * Takes the management API server away from an operator of a fleet, so often and for so long, amid a burst of changes of half of it.
 * Those of the other half come when the API server returns. The operator is one pod, whose program the kubelet starts again.
 * @param complete the fleet, which is copied
 */
export async function recoveries(
  complete: MemoryCluster,
  outages: readonly (readonly [outage: Outage, seconds: number])[],
  { leaderElection, limitMs }: { readonly leaderElection: boolean; readonly limitMs: number },
): Promise<Recovery[]> {
  const fleet = complete.copy();
  const { clock, all } = fleet;
  const network = new Network(clock, () => fleet.management.store.version);
  const pod = new OperatorPod(fleet, network, { leaderElection });
  await pod.start();
  let value = 1;
  await change(all, value);
  const results: Recovery[] = [];
  await convergence(fleet, value, limitMs);
  for (const [outage, seconds] of outages) {
    value += 1;
    const isAway = network.cutAfter(all.length / 2, outage);
    await change(all.slice(0, all.length / 2), value);
    await clock.advance(seconds * 1000);
    if (!isAway.aborted) throw new Error(`the burst was over before the API server was ${outage}`);
    network.restore();
    await change(all.slice(all.length / 2), value);
    results.push({ outage, seconds, ...(await convergence(fleet, value, limitMs)) });
  }
  await pod.stop();
  return results;
}

/** All in which requests fail within their time limits, each for a second up to five minutes. */
export const toldOutages = [
  ['killed', false],
  ['killed', true],
  ['lost', false],
  ['lost', true],
  ['without etcd', false],
  ['without etcd', true],
] as const;

/** No watch tells when etcd is back: some of these outages end soon after retries, long before the next ones. */
const secondsWithoutEtcd = [1, 10, 60, 250, 275, 300];

/** Expects a fleet to converge in time after each of these outages. Resolves with how it has. */
export async function expectRecoveries(
  complete: MemoryCluster,
  outage: Outage,
  leaderElection: boolean,
): Promise<readonly Recovery[]> {
  const lengths = outage === 'without etcd' ? secondsWithoutEtcd : [1, 10, 60, 300];
  const outages = lengths.map((seconds) => [outage, seconds] as const);
  const results = await recoveries(complete, outages, { leaderElection, limitMs: 90_000 });
  expect(results.map(({ converged }) => converged)).toEqual(outages.map(() => complete.all.length));
  expect(results.filter(({ afterMs }) => afterMs > 30_000)).toEqual([]);
  return results;
}

/** As users do, for which a Deployment changes. */
async function change(clusters: readonly MemoryCluster[], verbosity: number): Promise<void> {
  const deployment = { scheduler: { args: { v: String(verbosity) } } };
  for (const cluster of clusters) await cluster.change({ deployment });
}

/** Lets time pass, and Kubernetes' controllers act, until all control planes have this verbosity, or the time is over. */
async function convergence(fleet: MemoryCluster, verbosity: number, limitMs: number) {
  const start = fleet.clock.elapsed();
  for (;;) {
    const left = fleet.all.filter((cluster) => !hasConverged(cluster, verbosity));
    const afterMs = fleet.clock.elapsed() - start;
    if (left.length === 0 || afterMs >= limitMs) return { converged: fleet.all.length - left.length, afterMs };
    const before = fleet.version;
    await fleet.clock.advance(stepMs);
    if (fleet.version !== before) for (const cluster of left) cluster.settle();
  }
}

/** Whether the newest spec is applied and reported, and the control plane is Ready. */
function hasConverged(cluster: MemoryCluster, verbosity: number): boolean {
  const { metadata, ...rest } = cluster.hostedControlPlane;
  const { observedGeneration } = rest['status'] as { observedGeneration?: number };
  const scheduler = cluster.objects.get(Deployment, `${cluster.place.cluster}-scheduler`);
  return (
    observedGeneration === metadata.generation &&
    JSON.stringify(scheduler).includes(`"--v=${verbosity}"`) &&
    cluster.conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
  );
}
