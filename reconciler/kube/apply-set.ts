import { resourceOf, type Resource } from '../../constructs/api/resources.ts';
import { decideApply, isApplied, recordOf, renderedFingerprint, type AppliedRecord } from './apply-decision.ts';
import type { KubeClient } from './client.ts';
import type { Clock } from './clock.ts';
import { resultsOf, settleAll } from './concurrency.ts';
import { describeObject, identityOf, isOlder, type KubeObject, type ObjectName } from './object.ts';

/** What an apply set needs. */
export interface ApplySetOptions {
  readonly client: Pick<KubeClient, 'apply' | 'delete'>;
  readonly fieldManager: string;
  /** The object as the caches have it now; nothing when it is not there or nobody watches its kind. */
  readonly lookup: (resource: Resource, name: ObjectName) => KubeObject | undefined;
  readonly clock: Pick<Clock, 'now'>;
  /** Hears of every object that somebody else has changed and that is put right. By default nobody does. */
  readonly onRevert?: (live: KubeObject) => void;
}

interface Applied {
  readonly record: AppliedRecord;
  /** The server's answer, kept until the cache has caught up with it. */
  answer?: KubeObject | undefined;
}

const inFlight = 8;

/** How often a change of somebody else is put right before we only tell and wait. */
const revertsPerWindow = 5;
const revertWindowMs = 20_000;

/**
 * Applies what is rendered for many owners and remembers what it wrote, so that an unchanged world costs no request.
 * After a restart the memory is empty and everything is applied once, which the server turns into no write at all.
 */
export class ApplySet {
  readonly #options: ApplySetOptions;
  /** Owner → identity of the object → what we know of it. */
  readonly #owners = new Map<string, Map<string, Applied>>();
  /** Identity of an object → when a change of somebody else was put right. */
  readonly #reverts = new Map<string, number[]>();

  constructor(options: ApplySetOptions) {
    this.#options = options;
  }

  /**
   * Applies those objects that are not provably there already and returns all of them as they are live, in the same
   * order. All are attempted even when some fail; then it throws the failure, or an AggregateError of several.
   * @param owner key of what they are rendered for
   */
  async apply(
    owner: string,
    objects: readonly KubeObject[],
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<KubeObject[]> {
    const memory = this.#owners.get(owner) ?? new Map<string, Applied>();
    this.#owners.set(owner, memory);
    return resultsOf(await settleAll(objects, inFlight, (object) => this.#applyOne(memory, object, options.signal)));
  }

  /**
   * Deletes the objects of the inventory that are not to be kept and that this field manager has applied: labels alone
   * would not do, controllers copy them to what they make. Returns what it deleted.
   * @param keep everything that is rendered, complete
   * @param inventory live objects that carry the owner's labels
   */
  async prune(
    owner: string,
    keep: readonly KubeObject[],
    inventory: readonly KubeObject[],
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<KubeObject[]> {
    const kept = new Set(keep.map(identityOf));
    const { client, fieldManager } = this.#options;
    const surplus = inventory.filter(
      (object) =>
        !kept.has(identityOf(object)) && !object.metadata.deletionTimestamp && isApplied(object, fieldManager),
    );
    const outcomes = await settleAll(surplus, inFlight, async (object) => {
      const { uid } = object.metadata;
      const { signal } = options;
      await client.delete(resourceOf(object), object.metadata, { propagationPolicy: 'Background', uid, signal });
      this.#owners.get(owner)?.delete(identityOf(object));
      return object;
    });
    return resultsOf(outcomes);
  }

  /** Drops what is remembered of one object, of which we ourselves have just changed something by another way. */
  forgetObject(owner: string, object: KubeObject): void {
    this.#owners.get(owner)?.delete(identityOf(object));
  }

  /** Drops what is remembered of an owner that is gone. */
  forget(owner: string): void {
    this.#owners.delete(owner);
  }

  /** Throws when somebody has changed the object again and again: two managers that insist would write without end. */
  #countRevert(identity: string, live: KubeObject): void {
    const now = this.#options.clock.now();
    const recent = (this.#reverts.get(identity) ?? []).filter((time) => now - time < revertWindowMs);
    if (recent.length >= revertsPerWindow) throw new Error(describeFight(live, recent.length));
    this.#reverts.set(identity, [...recent, now]);
    this.#options.onRevert?.(live);
  }

  async #applyOne(
    memory: Map<string, Applied>,
    object: KubeObject,
    signal: AbortSignal | undefined,
  ): Promise<KubeObject> {
    const { client, fieldManager, lookup } = this.#options;
    const identity = identityOf(object);
    const rendered = renderedFingerprint(object);
    const live = lookup(resourceOf(object), object.metadata);
    const known = memory.get(identity);
    const decision = decideApply(rendered, known?.record, live, fieldManager);
    if (decision.because === 'drifted' && live) this.#countRevert(identity, live);
    if (decision.type === 'skip') {
      const newest = newerOf(known?.answer, live);
      if (newest !== known?.answer) forgetAnswer(known);
      if (newest) return newest;
    }
    const answer = await client.apply(object, { fieldManager, force: true, signal });
    memory.set(identity, { record: recordOf(rendered, answer, fieldManager), answer });
    return answer;
  }
}

function newerOf(answer: KubeObject | undefined, live: KubeObject | undefined): KubeObject | undefined {
  if (!answer || !live) return answer ?? live;
  return isOlder(live.metadata.resourceVersion ?? '0', answer.metadata.resourceVersion ?? '0') ? answer : live;
}

function forgetAnswer(applied: Applied | undefined): void {
  if (applied) applied.answer = undefined;
}

function describeFight(live: KubeObject, times: number): string {
  return `${describeObject(live)} was changed ${times} times within 20 s by somebody else and put right each time: find out who in its metadata.managedFields and stop it`;
}
