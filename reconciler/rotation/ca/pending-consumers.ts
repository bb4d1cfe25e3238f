import type { WorkContext } from '../../tasks/background-work.ts';
import { pause, systemClock } from '../../kube/clock.ts';
import { messageOf } from '../../kube/error-message.ts';
import type { PodObject } from '../../kube/readiness.ts';
import { findTask } from '../../tasks/task.ts';
import type { CARotationContext } from './context.ts';
import { namesOfMany } from '../../kube/names-of-many.ts';

/** Who is not as far as the rest: nobody, or half a sentence, and when to look again where no event tells. */
export type PendingConsumers =
  | { readonly kind: 'nobody' }
  | { readonly kind: 'some'; readonly who: string; readonly requeueAt?: Date | undefined };

/** Those of whom the watches tell when they have come further. */
export function waitingFor(who: readonly string[], requeueAt?: Date): PendingConsumers {
  return who.length === 0 ? { kind: 'nobody' } : { kind: 'some', who: namesOfMany(who), requeueAt };
}

/** Kubelets and servers read files again within a minute or so, and nothing tells when they have. */
const retryMs = 3_000;

/**
 * Asks everybody beside the queue, again and again until nobody lags behind; another pass comes then.
 * @param basis what they are asked about, and who: an answer about something else is none
 * @param ask gives half a sentence about each that lags behind
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
  if (task.isDue) task.start((context) => askUntilNobody(ask, context));
  if (task.state.kind === 'done') return { kind: 'nobody' };
  return { kind: 'some', who: task.state.kind === 'running' ? task.state.progress : allOfThem };
}

const allOfThem = 'the answers of all of them';

async function askUntilNobody(ask: () => Promise<string[]>, { signal, report }: WorkContext): Promise<void> {
  report(allOfThem);
  for (;;) {
    const who = await ask().catch((error: unknown) => [messageOf(error)]);
    signal.throwIfAborted();
    if (who.length === 0) return;
    report(namesOfMany(who));
    await pause(systemClock, retryMs, signal);
    signal.throwIfAborted();
  }
}

/** What a question to pods is about, together with which pods they are. */
export function inputsKeyOf(subject: string, pods: readonly PodObject[]): string {
  const which = pods.map(({ metadata, status }) => `${metadata.uid} ${status?.podIP}`);
  return [subject, ...which.toSorted()].join(' ');
}

/** Asks each pod; one that does not answer may be back the next moment with what it had, and lags behind. */
export async function askPods(
  pods: readonly PodObject[],
  ask: (address: string, pod: PodObject) => Promise<string | undefined>,
): Promise<string[]> {
  const answers = await Promise.all(
    pods.map(async (pod) => {
      const { name } = pod.metadata;
      const address = pod.status?.podIP;
      if (address === undefined) return [`${name}, which has no address yet`];
      const problem = await ask(address, pod).catch((error: unknown) => `cannot be asked (${messageOf(error)})`);
      return problem === undefined ? [] : [`${name}, which ${problem}`];
    }),
  );
  return answers.flat();
}
