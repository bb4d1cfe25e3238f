import { Random } from '../../simulation/random.ts';
import type { MemoryCluster } from '../loop/memory-cluster.ts';
import { smallestSpec } from '../loop/scenario.ts';
import { acts, createAgain } from './acts.ts';
import { clusterObject, type Fate, ownObject, problemsOf, World } from './world.ts';

/** One act of a user, and what the operator does afterwards. */
export interface Step {
  readonly act: string;
  /** Which of the control planes. */
  readonly on: number;
  /** Decides what exactly is done. */
  readonly dice: number;
  readonly fate: Fate;
}

export interface SequenceProps {
  readonly seed: number;
  readonly acts: number;
  /** How many control planes there are. */
  readonly clusters: number;
  /** On how many of them users act. */
  readonly chosen: number;
}

/** A sequence that is the same for the same seed. */
export function sequenceOf({ seed, acts: count, clusters, chosen }: SequenceProps): readonly Step[] {
  const random = new Random(seed);
  const all = Array.from({ length: clusters }, (_, index) => index);
  const some = Array.from({ length: chosen }, () => all.splice(random.integer(0, all.length), 1)[0] ?? 0);
  return Array.from({ length: count }, () => ({
    act: chooseAct(random),
    on: some[random.integer(0, some.length)] ?? 0,
    dice: random.integer(0, 2 ** 31),
    fate: {
      rounds: random.integer(0, 3),
      diesAfter: random.happens(0.2) ? random.integer(1, 12) : 0,
      losesAnswer: random.happens(0.2) ? random.integer(1, 12) : 0,
    },
  }));
}

function chooseAct(random: Random): string {
  const all = Object.entries(acts);
  let left = random.between(
    0,
    all.reduce((sum, [, { weight }]) => sum + weight, 0),
  );
  for (const [name, { weight }] of all) {
    left -= weight;
    if (left < 0) return name;
  }
  return all[0]![0];
}

/** What it says in the message of a failure. */
export function describeStep({ act, on, dice, fate: { rounds, diesAfter, losesAnswer } }: Step): string {
  const harm = [
    diesAfter > 0 ? `and dies after write ${diesAfter}` : '',
    losesAnswer > 0 ? `and loses the answer to write ${losesAnswer}` : '',
  ].filter(Boolean);
  return `a user ${act} (control plane ${on}, dice ${dice}); the operator reconciles it ${rounds} times ${harm.join(' ')}`.trim();
}

/** Runs a sequence in a copy of some control planes, undoes its mistakes, and checks all that must hold. @throws what does not */
export async function runSequence(complete: MemoryCluster, steps: readonly Step[]): Promise<void> {
  const world = new World(complete, smallestSpec);
  try {
    for (const step of steps) await take(world, step);
    const untouched = world.clusters.filter((cluster) => !world.touched.has(cluster));
    const attended = [...world.touched, ...untouched.slice(0, 1)];
    for (const cluster of attended) await world.until(cluster, () => untold(world, cluster));
    for (const cluster of untouched) requireReady(cluster);
    await undo(world);
    for (const cluster of attended) await bringBack(world, cluster);
    for (const cluster of world.clusters) requireReady(cluster);
  } finally {
    await world.stop();
  }
}

async function take(world: World, { act, on, dice, fate }: Step): Promise<void> {
  const cluster = world.clusters[on];
  const found = acts[act];
  if (!cluster || !found) throw new Error(`there is no act ${act} on ${on}`);
  const mistake = await found.act(world, cluster, new Random(dice));
  if (mistake) world.mistakes.push(mistake);
  world.touched.add(cluster);
  world.ledger.check();
  await world.attend(cluster, fate);
}

/** What is wrong in a control plane, and none of its conditions says. */
function untold(world: World, cluster: MemoryCluster): string[] {
  const own = ownObject(cluster);
  if (!own || own.metadata.deletionTimestamp) return [];
  const said = problemsOf(cluster).join('\n');
  if (!clusterObject(cluster))
    return said.includes('WaitingForCluster') ? [] : ['no condition says that its Cluster is gone'];
  // What is missing then holds up what depends on it.
  const isHeldUp = said.includes('is not issued until the clocks agree');
  const here = world.mistakes.filter(
    ({ of, kind, isOver }) => ((of === cluster && !isHeldUp) || kind === 'clock') && !isOver?.(),
  );
  const hiding = [...here, ...world.mistakes.filter(({ hidesIn }) => hidesIn === cluster.place.namespace)];
  return here
    .filter(({ words, hiddenBy = [] }) => !words.test(said) && !hiding.some(({ kind }) => hiddenBy.includes(kind)))
    .map(({ kind, words }) => `the mistake ${kind} is told by no condition: ${words}`);
}

async function undo(world: World): Promise<void> {
  for (const mistake of world.mistakes.splice(0)) await mistake.undo();
}

/** Creates it again if it was deleted, and waits until it is Ready. */
async function bringBack(world: World, cluster: MemoryCluster): Promise<void> {
  const isGoing = () =>
    [ownObject(cluster), clusterObject(cluster)].some((object) => object?.metadata.deletionTimestamp !== undefined);
  if (isGoing()) await world.until(cluster, () => (isGoing() ? ['it is still there'] : []));
  await createAgain(world, cluster);
  await world.until(cluster, () => faultsOf(cluster));
}

function faultsOf(cluster: MemoryCluster): string[] {
  const own = ownObject(cluster);
  if (!own) return ['it is gone'];
  const isReady = cluster.conditions.some(
    ({ type, status, observedGeneration }) =>
      type === 'Ready' && status === 'True' && observedGeneration === own.metadata.generation,
  );
  return [...(isReady ? [] : ['it is not Ready']), ...problemsOf(cluster)];
}

function requireReady(cluster: MemoryCluster): void {
  const faults = faultsOf(cluster).filter((fault) => !fault.startsWith('ClocksAgree False'));
  if (faults.length > 0)
    throw new Error(`${cluster.place.cluster}, on which no user has acted: ${faults.join('\n  ')}`);
}

/** The shortest beginning of a sequence that fails, and how. @returns undefined if none does */
export async function shortestFailure(
  complete: MemoryCluster,
  steps: readonly Step[],
): Promise<{ readonly steps: readonly Step[]; readonly error: unknown } | undefined> {
  const failure = await failureOf(complete, steps);
  if (failure === undefined) return undefined;
  for (let length = 0; length < steps.length; length++) {
    const beginning = steps.slice(0, length);
    const error = await failureOf(complete, beginning);
    if (error !== undefined) return { steps: beginning, error };
  }
  return { steps, error: failure };
}

async function failureOf(complete: MemoryCluster, steps: readonly Step[]): Promise<unknown> {
  return runSequence(complete, steps).then(
    () => undefined,
    (error: unknown) => error ?? new Error('unknown'),
  );
}
