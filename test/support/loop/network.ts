import { type Clock, pause } from '../../../reconciler/kube/clock.ts';
import { KubeError } from '../../../reconciler/kube/errors.ts';
import { withStallTimer } from '../../../reconciler/kube/stall.ts';
import { longestSilenceMs, stallOf, type WatchEvent } from '../../../reconciler/kube/watch.ts';

/**
 * How the management API server goes away: `killed` resets its connections and refuses new ones, `lost` drops all packets until it returns,
 * and `deaf` refuses new connections while the old ones look alive for ever. `without etcd` fails what it has to read or write there, and
 * its watches live on without events.
 */
export type Outage = 'killed' | 'lost' | 'deaf' | 'without etcd';

/** Pings end a connection on which nothing arrives. */
const pingsMs = 45_000;

/** The time limit of most requests, of those for a Lease, and of a new connection. */
const limitsMs = { request: 30_000, lease: 10_000, connection: 5_000 };

const bookmarkMs = 60_000;

/** After which the API server gives up to reach its etcd. */
const etcdMs = 1_000;

/** The way from one operator to the management API server, by a clock of the test. Requests and watches of an outage end as on real connections. */
export class Network {
  readonly #clock: Clock;
  readonly #version: () => number;
  #outage: Outage | undefined;
  /** Aborts when the API server returns. */
  #over = new AbortController();
  /** Aborts when it goes away. */
  #cut = new AbortController();
  /** Whether requests open new connections, because one on the old connection has failed. */
  #isRenewed = false;
  #requestsLeft = Infinity;
  /** Up to which watches have events while etcd is away. */
  #versionBefore = 0;

  /** @param version the newest one of the API server, for bookmarks */
  constructor(clock: Clock, version: () => number) {
    this.#clock = clock;
    this.#version = version;
  }

  /** The API server goes away. */
  cut(outage: Outage): void {
    [this.#outage, this.#requestsLeft, this.#isRenewed] = [outage, Infinity, false];
    this.#versionBefore = this.#version();
    this.#over = new AbortController();
    this.#cut.abort();
    this.#cut = new AbortController();
  }

  /** It goes away after so many requests. @returns aborts then */
  cutAfter(requests: number, outage: Outage): AbortSignal {
    this.#requestsLeft = requests;
    this.#next = outage;
    return this.#cut.signal;
  }
  #next: Outage = 'killed';

  /** It is back. */
  restore(): void {
    this.#outage = undefined;
    this.#over.abort();
  }

  /** Passes before a request can be sent. @throws when it cannot be sent */
  readonly send = async (action: string): Promise<void> => {
    if (this.#requestsLeft-- <= 0) this.cut(this.#next);
    if (this.#outage === undefined) return;
    if (this.#outage === 'without etcd') return this.#sendWithoutEtcd(action);
    if (this.#outage !== 'lost') throw unreachable(action);
    const limitMs = / Leases? /.test(`${action} `) ? limitsMs.lease : limitsMs.request;
    await pause(this.#clock, this.#isRenewed ? limitsMs.connection : limitMs, this.#over.signal);
    if (this.#over.signal.aborted) return;
    this.#isRenewed = true;
    throw new KubeError(`${action}: no answer in time`, { code: 0, reason: 'Timeout' });
  };

  async #sendWithoutEtcd(action: string): Promise<void> {
    const [verb = '', target = ''] = action.split(' ');
    if (verb === 'watch' || target.startsWith('/')) return;
    await pause(this.#clock, etcdMs, this.#over.signal);
    if (this.#over.signal.aborted) return;
    const isRead = ['get', 'list', 'check'].includes(verb);
    const [code, reason] = isRead ? ([504, 'Timeout'] as const) : ([500, 'InternalError'] as const);
    throw new KubeError(`${action}: etcdserver: request timed out`, { code, reason });
  }

  /** The events of a watch as they arrive, with bookmarks; it ends as a client of the product ends it. */
  async *receive(
    events: AsyncGenerator<WatchEvent, void>,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<WatchEvent, void> {
    const stall = stallOf({ clock: this.#clock, limitMs: longestSilenceMs }, signal);
    try {
      yield* withStallTimer(this.#arriving(events), stall);
    } catch (error) {
      if (error instanceof KubeError || signal?.aborted) throw error;
      throw new KubeError(`watch: ${String(error)}`, { code: 0, reason: 'Silent', cause: error });
    }
  }

  async *#arriving(events: AsyncGenerator<WatchEvent, void>): AsyncGenerator<WatchEvent, void> {
    for (let next = events.next(); ;) {
      const cut = this.#cut.signal;
      const isHeld = this.#outage === 'without etcd';
      const received = await this.#unless(cut, isHeld ? this.#afterOutage(next) : next);
      const version = isHeld ? this.#versionBefore : this.#version();
      if (received === 'bookmark') yield { type: 'BOOKMARK', resourceVersion: String(version) };
      else if (received === 'cut') {
        next.catch(() => {});
        await this.#outlive();
      } else {
        if (received.done) return;
        next = events.next();
        yield received.value;
      }
    }
  }

  /** Resolves when the connection of a watch works again. @throws when it has ended */
  async #outlive(): Promise<void> {
    const over = this.#over.signal;
    if (this.#outage === 'without etcd') return;
    if (this.#outage === 'deaf') await new Promise<never>(() => {});
    if (this.#outage === 'lost') await pause(this.#clock, pingsMs, over);
    if (!over.aborted) throw unreachable('watch');
  }

  async #afterOutage<T>(next: Promise<T>): Promise<T> {
    const over = this.#over.signal;
    next.catch(() => {});
    if (!over.aborted) await new Promise((resolve) => over.addEventListener('abort', resolve));
    return next;
  }

  async #unless<T>(cut: AbortSignal, next: Promise<T>): Promise<T | 'cut' | 'bookmark'> {
    const done = new AbortController();
    const bookmark = pause(this.#clock, bookmarkMs, done.signal).then(() => 'bookmark' as const);
    const ended = new Promise<'cut'>((resolve) => {
      if (cut.aborted || !(this.#outage === undefined || this.#outage === 'without etcd')) return resolve('cut');
      cut.addEventListener('abort', () => resolve('cut'), { signal: done.signal });
    });
    return Promise.race([ended, next, bookmark]).finally(() => done.abort());
  }
}

function unreachable(action: string): KubeError {
  return new KubeError(`${action}: connection refused`, { code: 0, reason: 'Unreachable' });
}
