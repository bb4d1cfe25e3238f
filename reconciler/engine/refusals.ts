import { Contested, type OnRefused } from '../kube/apply-set.ts';
import { isRefusal } from '../kube/errors.ts';
import { messageOf } from '../kube/error-message.ts';
import type { KubeObject } from '../kube/object.ts';
import { truncated } from '../kube/truncated.ts';
import { degraded, type Outcome, wait } from './outcome.ts';
import { earliest } from './requeue.ts';

/** When a refused object is tried again: no event says that a quota, a policy or a webhook has changed. */
const retryMs = 30_000;

const reportedErrors = 3;
const longestBytes = 1024;

/** The objects of one phase that stay as they are, because an API server refuses them or another client insists on its change. */
export class Refusals {
  readonly #errors = new Map<string, Error>();

  /** Notes an object that stays as it is. */
  readonly note: OnRefused = ({ kind, metadata: { name } }, error) => {
    this.#errors.set(`${kind} ${name}`, error);
  };

  /** The outcome of the phase: the control plane keeps what it has, and only the change waits. */
  judge(outcome: Outcome, now: Date): Outcome {
    if (this.#errors.size === 0) return outcome;
    const { facts, report } = outcome;
    const also = outcome.message === undefined ? [] : [outcome.message];
    if (outcome.kind === 'wait') {
      const { afterMs = retryMs, isStuck } = outcome;
      const message = [this.#message, ...also].join('; ');
      return wait(this.#reason, message, { facts, afterMs: Math.min(afterMs, retryMs), report, isStuck });
    }
    const message = [this.#message, ...(outcome.kind === 'degraded' ? also : [])].join('; ');
    const requeueAt = earliest([outcome.requeueAt, new Date(now.getTime() + retryMs)]);
    return degraded(this.#reason, message, { facts, requeueAt, report });
  }

  get #reason(): 'ObjectRefused' | 'ObjectContested' {
    return this.#sorted.every(isContested) ? 'ObjectContested' : 'ObjectRefused';
  }

  get #message(): string {
    const lead = this.#reason === 'ObjectRefused' ? 'an API server refuses an object, which stays as it was; ' : '';
    const reported = this.#sorted.slice(0, reportedErrors).map(messageOf);
    const more = this.#errors.size > reportedErrors ? [`and ${this.#errors.size - reportedErrors} more`] : [];
    return lead + truncated([...reported, ...more].join('; '), longestBytes);
  }

  /** Refusals first. */
  get #sorted(): readonly Error[] {
    return [...this.#errors.values()].sort((one, other) => Number(isContested(one)) - Number(isContested(other)));
  }
}

const isContested = (error: Error): boolean => error instanceof Contested;

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
