/** Who asked for what in its last pass, and is to be told of changes of it. */
export class Subscriptions {
  readonly #byTopic = new Map<string, Set<string>>();
  readonly #byKey = new Map<string, Set<string>>();

  /** Notes that this key asked for a topic. */
  add(key: string, topic: string): void {
    put(this.#byTopic, topic, key);
    put(this.#byKey, key, topic);
  }

  /** Keys that asked for any of these topics, each once. */
  of(topics: Iterable<string>): string[] {
    const keys = new Set<string>();
    for (const topic of topics) for (const key of this.#byTopic.get(topic) ?? []) keys.add(key);
    return [...keys];
  }

  /** Drops what the key asked for: it is gone, or about to ask anew. */
  forget(key: string): void {
    for (const topic of this.#byKey.get(key) ?? []) {
      const keys = this.#byTopic.get(topic);
      keys?.delete(key);
      if (keys?.size === 0) this.#byTopic.delete(topic);
    }
    this.#byKey.delete(key);
  }
}

function put(index: Map<string, Set<string>>, key: string, value: string): void {
  index.set(key, (index.get(key) ?? new Set()).add(value));
}
