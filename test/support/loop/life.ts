export interface LifeOptions {
  /** How many requests the process may send, to any server: the next one is never sent. By default there is no limit. */
  readonly requests?: number;
  /** Called before every request, such as `apply Secret a/b`; may change objects in the clusters. */
  readonly before?: (action: string) => void;
  /** Called after every write, before the process gets the answer. */
  readonly after?: (action: string) => void;
}

/** The lifetime of one process, which ends between two requests. */
export class Life {
  readonly #died = Promise.withResolvers<void>();
  readonly #before: (action: string) => void;
  /** Called after every write. */
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

  /** Ends it at once. Callers get no more answers: a killed process neither receives nor sends anything. */
  end(): void {
    this.#isOver = true;
    this.#died.resolve();
  }

  /** Called before every request; never resolves once the process is dead. */
  readonly whileAlive = async (action: string): Promise<void> => {
    if (!this.#isOver && this.#requestsLeft-- <= 0) this.end();
    if (this.#isOver) await new Promise<never>(() => {});
    this.#before(action);
  };
}
