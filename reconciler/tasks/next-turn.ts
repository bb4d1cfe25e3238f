/** How many tasks of one kind run at the same time, and for how long while others wait. */
export interface TurnLimit {
  readonly atOnce: number;
  readonly perNamespace: number;
  /** A task that moves nothing may hold its turn for this time while another namespace waits without any. */
  readonly shareMs: number;
}

/** What holds turns and waits for one: plain data. */
export interface TurnSituation {
  readonly limit: TurnLimit;
  readonly running: readonly {
    readonly namespace: string;
    readonly heldMs: number;
    /** How much it has sent or received. */
    readonly bytes: number;
    /** It was told to end, and has not yet. */
    readonly isEnding: boolean;
  }[];
  /** Namespaces of the tasks that wait, in the order in which they came. */
  readonly waiting: readonly string[];
  /** A number for each namespace that has begun before; the greater, the later. */
  readonly lastBegan: ReadonlyMap<string, number>;
}

export type TurnDecision =
  /** The task at this place of those that wait begins. */
  | { readonly kind: 'begin'; readonly index: number }
  /** The running task at this place must end. */
  | { readonly kind: 'end'; readonly index: number; readonly why: string }
  | { readonly kind: 'wait' };

/** How fast a task is that keeps its turn while others wait: what a usual database needs is moved within some minutes. */
const keepingBytesPerSecond = 4 << 20;

/**
 * Whose turn it is: that of the namespace which holds fewest, then of the one that began least recently, so that the number of its
 * control planes gives a namespace no more. While all turns are held, a task that is slow and has had its share ends in favour of a
 * namespace that holds fewer: a server that sends a byte now and then would otherwise hold a turn of all others.
 */
export function nextTurn({ limit, running, waiting, lastBegan }: TurnSituation): TurnDecision {
  const heldBy = (namespace: string) => running.filter((one) => one.namespace === namespace).length;
  const [next] = waiting
    .map((namespace, index) => ({ namespace, index, held: heldBy(namespace), began: lastBegan.get(namespace) ?? 0 }))
    .filter(({ held }) => held < limit.perNamespace)
    .sort((one, other) => one.held - other.held || one.began - other.began || one.index - other.index);
  if (!next) return { kind: 'wait' };
  if (running.length < limit.atOnce) return { kind: 'begin', index: next.index };
  const ending = running.filter(({ isEnding }) => isEnding).length;
  if (ending >= new Set(waiting).size) return { kind: 'wait' };
  const [slowest] = running
    .map(({ namespace, heldMs, bytes, isEnding }, index) => {
      const overMs = heldMs - limit.shareMs - (bytes / keepingBytesPerSecond) * 1000;
      return { index, overMs, heldMs, bytes, isEnding, held: heldBy(namespace) };
    })
    .filter(({ overMs, isEnding, held }) => overMs > 0 && !isEnding && held > next.held)
    .sort((one, other) => other.overMs - one.overMs);
  if (!slowest) return { kind: 'wait' };
  const [seconds, mebibytes] = [Math.round(slowest.heldMs / 1000), Math.round(slowest.bytes / (1 << 20))];
  return {
    kind: 'end',
    index: slowest.index,
    why: `ended after ${seconds} s, in which it moved ${mebibytes} MiB, because control planes of other namespaces wait for their turn: check the store, etcd, and the network between them and the operator; the operator tries again`,
  };
}
