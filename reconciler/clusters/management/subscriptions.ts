/** Keys and the topics that they read in their last reconcile, whose changes trigger the next one. */
export class Subscriptions {
  readonly #byTopic = new Map<string, Set<string>>();
  readonly #byKey = new Map<string, Set<string>>();

  /** Subscribes a key to a topic. */
  add(key: string, topic: string): void {
    put(this.#byTopic, topic, key);
    put(this.#byKey, key, topic);
  }

  /** Keys with a subscription to any of these topics, without duplicates. */
  of(topics: Iterable<string>): string[] {
    const keys = new Set<string>();
    for (const topic of topics) for (const key of this.#byTopic.get(topic) ?? []) keys.add(key);
    return [...keys];
  }

  /** Removes the subscriptions of a key, which was deleted or is about to subscribe again. */
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
