import type { WorkContext } from '../../tasks/background-work.ts';
import { pause, systemClock } from '../../kube/clock.ts';
import { messageOf } from '../../kube/error-message.ts';
import type { PodObject } from '../../kube/readiness.ts';
import { findTask } from '../../tasks/task.ts';
import type { CARotationContext } from './context.ts';
import { askPods } from '../../pods/ask-pods.ts';
import { namesOfMany } from '../../kube/names-of-many.ts';

/**
 * The consumers that are not up to date: none, or part of a sentence, and when to reconcile again if no event triggers
 * it.
 */
export type PendingConsumers =
  | { readonly kind: 'none' }
  | { readonly kind: 'some'; readonly who: string; readonly requeueAt?: Date | undefined };

/** Consumers whose progress the watches report. */
export function waitingFor(who: readonly string[], requeueAt?: Date): PendingConsumers {
  return who.length === 0 ? { kind: 'none' } : { kind: 'some', who: namesOfMany(who), requeueAt };
}

/** Kubelets and servers read files again within a minute or so, which nothing reports. */
const retryMs = 3_000;

/**
 * Queries all consumers in the background, repeatedly until none is pending. Then another reconcile follows.
 * @param inputsKey subject of the query and its consumers, so that answers about other inputs are ignored
 * @param ask returns part of a sentence about each pending consumer
 */
export function askAll(
  { work, now }: Pick<CARotationContext, 'work' | 'now'>,
  {
    name,
    inputsKey,
    ask,
  }: { readonly name: string; readonly inputsKey: string; readonly ask: () => Promise<string[]> },
): PendingConsumers {
  const task = findTask(work, now, { name, inputsKey, retryMs: 0, supersedes: true });
  if (task.isDue) task.start((context) => askUntilDone(ask, context));
  if (task.state.kind === 'done') return { kind: 'none' };
  return { kind: 'some', who: task.state.kind === 'running' ? task.state.progress : allAnswers };
}

const allAnswers = 'all answers';

async function askUntilDone(ask: () => Promise<string[]>, { signal, report }: WorkContext): Promise<void> {
  report(allAnswers);
  for (;;) {
    const who = await ask().catch((error: unknown) => [messageOf(error)]);
    signal.throwIfAborted();
    if (who.length === 0) return;
    report(namesOfMany(who));
    await pause(systemClock, retryMs, signal);
    signal.throwIfAborted();
  }
}

/** Identifies a query to pods: its subject and the pods. */
export function inputsKeyOf(subject: string, pods: readonly PodObject[]): string {
  const which = pods.map(({ metadata, status }) => `${metadata.uid} ${status?.podIP}`);
  return [subject, ...which.toSorted()].join(' ');
}

/**
 * Queries each pod, and returns a part of a sentence about each pending one. A silent pod is pending.
 * @param problemOf the problem with a pod, as a predicate; undefined if it is up to date
 */
export async function pendingPods(
  pods: readonly PodObject[],
  problemOf: (address: string, pod: PodObject) => Promise<string | undefined>,
): Promise<string[]> {
  const answers = await askPods(pods, problemOf);
  return answers.flatMap((answer) => {
    const problem = answer.kind === 'silent' ? answer.problem : answer.value;
    return problem === undefined ? [] : [`${answer.pod}, which ${problem}`];
  });
}
