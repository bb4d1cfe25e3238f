export interface LifeOptions {
  /** How many requests it may make, to whatever it talks to: the next one is never sent. By default it lives on. */
  readonly requests?: number;
  /** Hears of every request before it is made, such as `apply Secret a/b`, and may change the world meanwhile. */
  readonly before?: (action: string) => void;
  /** Hears of every write when it is done and before the process knows. */
  readonly after?: (action: string) => void;
}

/** The life of one process, which ends between two requests. */
export class Life {
  readonly #died = Promise.withResolvers<void>();
  readonly #before: (action: string) => void;
  /** Comes after every write. */
  readonly after: (action: string) => void;
  #requestsLeft: number;
  #isOver = false;

  constructor({ requests = Infinity, before = () => {}, after = () => {} }: LifeOptions = {}) {
    this.#requestsLeft = requests;
    this.#before = before;
    this.after = after;
  }

  get died(): Promise<void> {
    return this.#died.promise;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Ends it at once. Nobody gets an answer any more: a process that is killed hears and says nothing. */
  end(): void {
    this.#isOver = true;
    this.#died.resolve();
  }

  /** Comes before every request, and never resolves for one that a dead process would make. */
  readonly whileAlive = async (action: string): Promise<void> => {
    if (!this.#isOver && this.#requestsLeft-- <= 0) this.end();
    if (this.#isOver) await new Promise<never>(() => {});
    this.#before(action);
  };
}
