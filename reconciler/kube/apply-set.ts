import { resourceOf, type Resource } from '../../constructs/api/resources.ts';
import { decideApply, isApplied, recordOf, type AppliedRecord } from './apply-decision.ts';
import type { KubeClient } from './client.ts';
import type { Clock } from './clock.ts';
import { resultsOf, settleAll } from './concurrency.ts';
import { isRefusal } from './errors.ts';
import { describeObject, identityOf, isOlder, type KubeObject, type ObjectName } from './object.ts';
import { type Rendered, type RenderedEntry, type RenderedName, Renderings } from './rendering.ts';

/** Options of an apply set. */
export interface ApplySetOptions {
  readonly client: Pick<KubeClient, 'apply' | 'delete'>;
  readonly fieldManager: string;
  /** The object in the cache; undefined when it does not exist or its kind is not watched. */
  readonly lookup: (resource: Resource, name: ObjectName) => KubeObject | undefined;
  readonly clock: Pick<Clock, 'now'>;
  /** What is kept and returned of an answer to an apply of this object. By default everything. */
  readonly keep?: ((answer: KubeObject, sent: KubeObject) => KubeObject) | undefined;
  /** Called for every object that another client has changed and that is reverted. By default not called. */
  readonly onRevert?: (live: KubeObject) => void;
}

/** Called for an object that stays as it is, because the server refuses it, or another client insists on its own change. */
export type OnRefused = (object: KubeObject, error: Error) => void;

/** Options of one apply. */
export interface ApplyAllOptions {
  readonly signal?: AbortSignal | undefined;
  /** By default a refusal is thrown, as any other failure is. */
  readonly onRefused?: OnRefused | undefined;
  /** Which of the objects are applied. By default all. */
  readonly only?: ((name: RenderedName) => boolean) | undefined;
}

/** Another client insists on its own change of an object: two field managers that insist would write endlessly. */
export class Contested extends Error {}

interface Applied {
  readonly record: AppliedRecord;
  /** The server's response, kept until the cache has caught up with it. */
  answer?: KubeObject | undefined;
}

const inFlight = 8;

/** How often changes of another client are reverted before the apply set only reports them and waits. */
const revertsPerWindow = 5;
const revertWindowMs = 20_000;

/**
 * Applies the rendered objects of many owners and records what it wrote, so that unchanged objects need no request. After a start the
 * records are empty, and an object is applied unless it provably is as it would be applied.
 */
export class ApplySet {
  readonly #options: ApplySetOptions;
  /** Owner → identity of the object → record. */
  readonly #owners = new Map<string, Map<string, Applied>>();
  /** Identity of an object → times at which a change of another client was reverted. */
  readonly #reverts = new Map<string, number[]>();
  readonly #renderings = new Renderings();
  /** Whether an object without a record may be as the cache has it. */
  #trustsCache = true;

  constructor(options: ApplySetOptions) {
    this.#options = options;
  }

  /**
   * Applies the objects that have changed, and returns all objects as they are live, in the same order. A refused one is as it
   * was before, and is missing if it was not there. It attempts all even when some fail, and then throws the failure, or an
   * AggregateError of several.
   * @param owner key of the objects' owner
   */
  async apply(
    owner: string,
    rendered: Rendered,
    { signal, onRefused, only = () => true }: ApplyAllOptions = {},
  ): Promise<KubeObject[]> {
    const entries = this.#renderings.entries(owner, rendered).filter(({ name }) => only(name));
    const memory = this.#owners.get(owner) ?? new Map<string, Applied>();
    this.#owners.set(owner, memory);
    const applied = await settleAll(entries, inFlight, async (entry) => {
      try {
        return await this.#applyOne(memory, entry, signal);
      } catch (error) {
        if (!onRefused || !(error instanceof Error) || !(error instanceof Contested || isRefusal(error))) throw error;
        onRefused(entry.object(), error);
        return this.#lookup(entry);
      }
    });
    return resultsOf(applied).filter((live) => live !== undefined);
  }

  /**
   * What {@link apply} would store of the only object of this kind; undefined if it provably sends no request. Nothing is stored or
   * recorded.
   */
  async preview(owner: string, rendered: Rendered, kind: string): Promise<KubeObject | undefined> {
    const entry = this.#renderings.entries(owner, rendered).find(({ name }) => name.kind === kind);
    if (!entry) return undefined;
    const { client, fieldManager } = this.#options;
    const known = this.#owners.get(owner)?.get(entry.identity);
    const { type } = decideApply(entry, known?.record, this.#lookup(entry), fieldManager);
    return type === 'skip' ? undefined : client.apply(entry.object(), { fieldManager, force: true, dryRun: true });
  }

  /** The names of all objects. */
  names(owner: string, rendered: Rendered): RenderedName[] {
    return this.#renderings.entries(owner, rendered).map(({ name }) => name);
  }

  /**
   * Deletes the objects of the inventory that are not in `keep` and that this field manager has applied, and returns
   * them. Labels are not sufficient, because controllers copy them to the objects they create.
   * @param keep all rendered objects
   * @param inventory live objects with the owner's labels
   */
  async prune(
    owner: string,
    keep: Rendered,
    inventory: readonly KubeObject[],
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<KubeObject[]> {
    const kept = new Set(this.#renderings.entries(owner, keep).map(({ identity }) => identity));
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

  /** Drops the record of one object that the operator has just changed by another request. */
  forgetObject(owner: string, object: KubeObject): void {
    this.#owners.get(owner)?.delete(identityOf(object));
  }

  /** Drops the records of an owner that was deleted. */
  forget(owner: string): void {
    this.#owners.delete(owner);
    this.#renderings.forget(owner);
  }

  /** Drops all records, because the versions of the server have gone back, or the cache may be wrong: all objects are applied. */
  forgetAll(): void {
    this.#owners.clear();
    this.#trustsCache = false;
  }

  /**
   * Throws when another client changes the object repeatedly, because two field managers that insist would write
   * endlessly.
   */
  #requirePeace(identity: string, live: KubeObject): void {
    const { length } = this.#recentReverts(identity);
    if (length >= revertsPerWindow) throw new Contested(describeFight(live, length));
  }

  #countRevert(identity: string, live: KubeObject): void {
    // Also those of objects that are gone.
    for (const other of this.#reverts.keys()) if (this.#recentReverts(other).length === 0) this.#reverts.delete(other);
    this.#reverts.set(identity, [...this.#recentReverts(identity), this.#options.clock.now()]);
    this.#options.onRevert?.(live);
  }

  #recentReverts(identity: string): number[] {
    const now = this.#options.clock.now();
    return (this.#reverts.get(identity) ?? []).filter((time) => now - time < revertWindowMs);
  }

  #lookup({ resource, name }: RenderedEntry): KubeObject | undefined {
    return this.#options.lookup(resource, name.metadata);
  }

  async #applyOne(
    memory: Map<string, Applied>,
    entry: RenderedEntry,
    signal: AbortSignal | undefined,
  ): Promise<KubeObject> {
    const { client, fieldManager, keep = (whole: KubeObject) => whole } = this.#options;
    const { identity, fingerprint } = entry;
    const live = this.#lookup(entry);
    const known = memory.get(identity);
    const decision = decideApply(entry, known?.record, live, fieldManager);
    if (live && this.#trustsCache && decision.because === 'applied before') {
      memory.set(identity, { record: recordOf(fingerprint, live, fieldManager) });
      return live;
    }
    const drifted = decision.because === 'drifted' ? live : undefined;
    if (drifted) this.#requirePeace(identity, drifted);
    if (known && decision.type === 'skip') {
      const newest = newerOf(known.answer, live);
      if (newest !== known.answer) forgetAnswer(known);
      if (newest) return newest;
    }
    const object = entry.object();
    const answer = keep(await client.apply(object, { fieldManager, force: true, signal }), object);
    memory.set(identity, { record: recordOf(fingerprint, answer, fieldManager), answer });
    // What another client has added below a field stays, and the server stores nothing.
    const isReverted = drifted && drifted.metadata.resourceVersion !== answer.metadata.resourceVersion;
    if (isReverted) this.#countRevert(identity, drifted);
    return answer;
  }
}

function newerOf(answer: KubeObject | undefined, live: KubeObject | undefined): KubeObject | undefined {
  if (!answer || !live) return answer ?? live;
  return isOlder(live.metadata.resourceVersion ?? '0', answer.metadata.resourceVersion ?? '0') ? answer : live;
}

function forgetAnswer(applied: Applied): void {
  applied.answer = undefined;
}

function describeFight(live: KubeObject, times: number): string {
  return `${describeObject(live)} was changed ${times} times within 20 s by another client, and the operator reverted each change: find the client in metadata.managedFields of the object, or the admission policy or webhook that changes what clients write, and stop it`;
}
