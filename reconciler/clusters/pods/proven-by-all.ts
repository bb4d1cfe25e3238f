import type { PodObject } from '../../../imports/kubernetes.ts';
import type { ComponentName } from '../../../constructs/cluster/labels.ts';
import { type Clock, pause } from '../../kube/clock.ts';
import { messageOf } from '../../kube/error-message.ts';
import { namesOfMany } from '../../kube/names-of-many.ts';
import type { ControlPlaneContext } from '../management/view.ts';
import type { Work, WorkContext } from '../../engine/tasks/background-work.ts';
import { findTask } from '../../engine/tasks/task.ts';
import { answeringPods, askPods } from './ask-pods.ts';
import { refreshFiles } from './secret-files.ts';

/** Whether all that should have loaded something have. */
export type Proof =
  | { readonly kind: 'proved' }
  /** Names who has not, as part of a sentence. */
  | { readonly kind: 'pending'; readonly who: string; readonly requeueAt?: Date | undefined };

/** What every pod of a component should have loaded. */
export interface Claim {
  /** Name of the background task. */
  readonly name: string;
  readonly component: ComponentName;
  /** Identifies what is loaded: an answer about another version does not count. */
  readonly version: string;
  /** Of the files in which kubelets bring it, as in {@link refreshFiles}. @default it is in no file */
  readonly purpose?: string | undefined;
  /** Returns part of a sentence about each that has not: a pod, or another one that should have it. */
  readonly ask: (pods: readonly PodObject[]) => Promise<readonly string[]>;
}

export interface ProofContext extends Pick<ControlPlaneContext, 'cluster' | 'writer' | 'now'> {
  readonly work: Work;
  readonly clock: Clock;
}

/** Kubelets and servers read files again within a minute or so, which nothing reports. */
const retryMs = 3_000;

/**
 * Whether every pod of a component has loaded what the claim says. They are asked in the background, again and again until all
 * have. Then another reconcile follows. A pod that was replaced is asked again.
 */
export async function provenByAll(scope: ProofContext, claim: Claim): Promise<Proof> {
  const { component, name, version, purpose } = claim;
  const pods = await answeringPods(scope, component);
  if (pods.length === 0) return pendingOn([`${component}: no pods run`]);
  if (purpose !== undefined) await refreshFiles(scope.writer, pods, { purpose, version });
  const which = pods.map(({ metadata, status }) => `${metadata.uid} ${status?.podIP}`).toSorted();
  const inputsKey = [version, ...which].join(' ');
  const task = findTask(scope.work, scope.now, { name, inputsKey, retryMs: 0, supersedes: true });
  if (task.isDue) task.start((context) => askUntilAll(() => claim.ask(pods), scope.clock, context));
  if (task.state.kind === 'done') return proved;
  return { kind: 'pending', who: task.state.kind === 'running' ? task.state.progress : allAnswers };
}

export const proved: Proof = { kind: 'proved' };

/** The proof that waits for these. @param requeueAt when to reconcile again if no event triggers it */
export function pendingOn(who: readonly string[], requeueAt?: Date): Proof {
  return who.length === 0 ? proved : { kind: 'pending', who: namesOfMany(who), requeueAt };
}

/**
 * Queries each pod, and returns part of a sentence about each that has a problem. A silent pod has one: it may return with what it
 * had before.
 * @param problemOf the problem of a pod, as a predicate; undefined if it has none
 */
export async function podsWithProblem(
  pods: readonly PodObject[],
  problemOf: (address: string, pod: PodObject) => Promise<string | undefined>,
): Promise<string[]> {
  const answers = await askPods(pods, problemOf);
  return answers.flatMap((answer) => {
    const problem = answer.kind === 'silent' ? answer.problem : answer.value;
    return problem === undefined ? [] : [`${answer.pod}, which ${problem}`];
  });
}

const allAnswers = 'all answers';

async function askUntilAll(
  ask: () => Promise<readonly string[]>,
  clock: Clock,
  { signal, report }: WorkContext,
): Promise<void> {
  report(allAnswers);
  for (;;) {
    const who = await ask().catch((error: unknown) => [messageOf(error)]);
    signal.throwIfAborted();
    if (who.length === 0) return;
    report(namesOfMany(who));
    await pause(clock, retryMs, signal);
    signal.throwIfAborted();
  }
}
