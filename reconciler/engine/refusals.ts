import type { OnRefused } from '../kube/apply-set.ts';
import { isRefusal } from '../kube/errors.ts';
import { messageOf } from '../kube/error-message.ts';
import type { KubeObject } from '../kube/object.ts';
import { truncated } from '../kube/truncated.ts';
import { degraded, type Outcome, wait } from './outcome.ts';
import { earliest } from './requeue.ts';

/** When a refused object is tried again: no event says that a quota, a policy or a webhook has changed. */
const retryMs = 30_000;

const reportedRefusals = 3;
const longestBytes = 1024;

/** The objects of one phase that an API server has refused, each with its words. */
export class Refusals {
  readonly #messages = new Map<string, string>();

  /** Notes an object that stays as it is. */
  readonly note: OnRefused = ({ kind, metadata: { name } }, error) => {
    this.#messages.set(`${kind} ${name}`, messageOf(error));
  };

  /** The outcome of the phase: the control plane keeps what it has, and only the change waits. */
  judge(outcome: Outcome, now: Date): Outcome {
    if (this.#messages.size === 0) return outcome;
    const { facts, report } = outcome;
    const also = outcome.message === undefined ? [] : [outcome.message];
    if (outcome.kind === 'wait') {
      const { afterMs = retryMs, isStuck } = outcome;
      const message = [this.#message, ...also].join('; ');
      return wait('ObjectRefused', message, { facts, afterMs: Math.min(afterMs, retryMs), report, isStuck });
    }
    const message = [this.#message, ...(outcome.kind === 'degraded' ? also : [])].join('; ');
    const requeueAt = earliest([outcome.requeueAt, new Date(now.getTime() + retryMs)]);
    return degraded('ObjectRefused', message, facts, { requeueAt, report });
  }

  get #message(): string {
    const told = [...this.#messages.values()];
    const more = told.length > reportedRefusals ? [`and ${told.length - reportedRefusals} more`] : [];
    const words = truncated([...told.slice(0, reportedRefusals), ...more].join('; '), longestBytes);
    return `an API server refuses an object, which stays as it was; ${words}`;
  }
}

interface Taking {
  /** Takes a refusal; undefined while a refusal ends the phase. */
  readonly onRefused?: OnRefused | undefined;
}

/** The answer to a write; undefined if the server has refused it, and the phase goes on. @throws any other failure */
export async function unlessRefused<T>(
  { onRefused }: Taking,
  object: KubeObject,
  write: Promise<T>,
): Promise<T | undefined> {
  try {
    return await write;
  } catch (error) {
    if (!onRefused || !(error instanceof Error) || !isRefusal(error)) throw error;
    onRefused(object, error);
    return undefined;
  }
}

/** The same, for a phase that also wants to know which objects stay as they are. */
export function noting({ onRefused }: Taking, note: OnRefused): OnRefused | undefined {
  return (
    onRefused &&
    ((object, error) => {
      note(object, error);
      onRefused(object, error);
    })
  );
}
