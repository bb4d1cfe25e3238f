import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { execute, isEtcdCall } from '../../../reconciler/etcd/execute-step.ts';
import { isRefusedForNow } from '../../../reconciler/etcd/client.ts';
import { healthyVoters, leaderOf } from '../../../reconciler/etcd/members.ts';
import { planEtcdStep } from '../../../reconciler/etcd/plan-step.ts';
import type { EtcdStep } from '../../../reconciler/etcd/steps.ts';
import { EtcdProcesses } from '../../cluster/etcd/etcd-processes.ts';
import { settle } from '../../cluster/etcd/settle.ts';
import { until } from '../../support/until.ts';
import { findBinaries } from '../testbed/binaries.ts';
import { instanceFrom } from '../testbed/instance.ts';
import { fill } from './etcd-data.ts';
import type { Extent } from './extent.ts';
import { type Figure, percentile } from './figure.ts';
import { MemberService } from './member-service.ts';
import { TimedWriter } from './timed-writer.ts';

const names = ['etcd-0', 'etcd-1', 'etcd-2'] as const;
const stallGoal = { atMost: 2 };

/** A step, and its time. */
interface Taken {
  readonly step: EtcdStep;
  /** The leader before. */
  readonly leader: string | undefined;
  readonly from: number;
  readonly to: number;
}

/**
 * Stalls of writers while etcd's three members are defragmented and restarted by the operator's own decisions. One
 * writes through each member, because an API server keeps its connection.
 */
export async function measureStalls(
  { stalls: { dataBytes, quotaBytes, restMs } }: Extent,
  report: (line: string) => void,
): Promise<Figure[]> {
  const cluster = await EtcdProcesses.start(3, 3, ['--quota-backend-bytes=4294967296']);
  const directory = await mkdtemp(join(tmpdir(), 'stalls-'));
  const services: MemberService[] = [];
  const writers = new Map<string, TimedWriter>();
  try {
    await settle(cluster, names.length);
    await leaveHoles(cluster, dataBytes);
    for (const name of names) {
      const { member, credentials } = cluster.access(name);
      const others = names.filter((other) => other !== name).map((other) => cluster.access(other).member.address);
      const service = await MemberService.start([member.address, ...others]);
      services.push(service);
      writers.set(name, new TimedWriter({ ...member, address: service.address }, credentials));
    }
    for (const name of names) await untilHoles(cluster, name);
    const restFrom = performance.now();
    await setTimeout(restMs);
    const restTo = performance.now();

    const defragmented = await executeAll(cluster, quotaBytes);
    cluster.useBinary(await anotherPath(directory));
    const rolloutFrom = performance.now();
    const restarted = await executeAll(cluster, quotaBytes);
    const rollout = [{ from: rolloutFrom, to: performance.now() }];
    await setTimeout(1_000);
    await Promise.all([...writers.values()].map((writer) => writer.stop()));
    for (const { step, from, to } of [...defragmented, ...restarted]) {
      report(`${step.kind} ${'member' in step ? step.member : step.to}: ${((to - from) / 1000).toFixed(2)} s`);
    }

    const through = (ways: readonly string[], taken: readonly Pick<Taken, 'from' | 'to'>[]): number[] =>
      ways.flatMap((way) => taken.flatMap(({ from, to }) => writers.get(way)?.between(from, to) ?? []));
    const defragmentations = defragmented.filter(({ step }) => step.kind === 'defragment');
    const own = defragmentations.flatMap((taken) => through([nameOf(taken.step)], [taken]));
    const others = defragmentations.flatMap((taken) =>
      through(
        names.filter((name) => name !== nameOf(taken.step)),
        [taken],
      ),
    );
    const moves = defragmented.filter(({ step }) => step.kind === 'moveLeader');
    return [
      ...figures('at rest', through(names, [{ from: restFrom, to: restTo }])),
      ...figures('defragmentation, through the other members', others, { atMost: 0.1 }),
      ...figures('defragmentation, through the member itself', own, stallGoal),
      ...figures('leadership moved before the former leader is defragmented', through(names, moves), stallGoal),
      ...figures('rolling restart of all members', through(names, rollout), stallGoal),
      { name: 'defragmentations of a leader', value: led(defragmentations), unit: '', goal: { atMost: 0 } },
    ];
  } finally {
    await Promise.all([...writers.values()].map((writer) => writer.stop()));
    await Promise.all(services.map((service) => service.stop()));
    await cluster.stop();
    await rm(directory, { recursive: true });
  }
}

/** A database file with mostly free space, as after many deletions. */
async function leaveHoles(cluster: EtcdProcesses, dataBytes: number): Promise<void> {
  await fill(cluster, dataBytes);
  const keys = cluster.keys();
  const { header } = await keys
    .delete()
    .inRange({ start: '/registry/secrets/bench/', end: '/registry/secrets/bench/4' });
  // The answer's revision: a member that is behind states one before the deletion, and compacting there frees nothing.
  await keys.kv.compact({ revision: header.revision });
  keys.close();
}

/** Ends when half of the database is free. The pages of deleted keys are free once something else is written. */
async function untilHoles(cluster: EtcdProcesses, name: string): Promise<void> {
  let least = 1;
  await until(
    `${name} to have free pages`,
    async () => {
      const { status } = await cluster.client(name).status();
      least = Math.min(least, status.dbSizeInUseBytes / status.dbSizeBytes);
      return least < 0.5;
    },
    120_000,
    () => least.toFixed(2),
  );
}

/** Executes one step after the other as the operator would, until the desired state is reached. */
async function executeAll(cluster: EtcdProcesses, quotaBytes: number): Promise<Taken[]> {
  const taken: Taken[] = [];
  await until('nothing left to do', async () => executeNext(cluster, quotaBytes, taken), 300_000);
  return taken;
}

async function executeNext(cluster: EtcdProcesses, quotaBytes: number, taken: Taken[]): Promise<boolean> {
  const observation = await cluster.observe();
  const goal = { replicas: names.length, revision: cluster.revision, cause: 'requested', quotaBytes } as const;
  const decision = planEtcdStep(observation, goal);
  if (decision.kind === 'settled') return healthyVoters(observation).length === names.length;
  if (decision.kind === 'wait') {
    await cluster.runMissing(observation);
    return false;
  }
  const { step } = decision;
  const from = performance.now();
  try {
    await (isEtcdCall(step) ? execute(step, observation, cluster.clients) : cluster.executeOnPods(step));
    taken.push({ step, leader: leaderOf(observation)?.name, from, to: performance.now() });
  } catch (error) {
    if (!isRefusedForNow(error)) throw error;
  }
  return false;
}

/** The same etcd under another path: a new template for the members. */
async function anotherPath(directory: string): Promise<string> {
  const { etcd = '' } = await findBinaries(instanceFrom(process.env).cache, process.env['HCP_TESTBED_BIN'], () => {});
  await symlink(etcd, join(directory, 'etcd'));
  return join(directory, 'etcd');
}

function nameOf(step: EtcdStep): string {
  return 'member' in step ? step.member : step.to;
}

function led(taken: readonly Taken[]): number {
  return taken.filter(({ step, leader }) => nameOf(step) === leader).length;
}

function figures(during: string, times: readonly number[], goal?: { readonly atMost: number }): Figure[] {
  const name = `write stall, ${during}`;
  return [
    { name: `${name}: p99`, value: percentile(times, 0.99) / 1000, unit: 's', ...(goal ? { goal } : {}) },
    { name: `${name}: longest`, value: Math.max(...times) / 1000, unit: 's' },
  ];
}
