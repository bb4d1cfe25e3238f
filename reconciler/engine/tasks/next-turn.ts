/** How many tasks of one kind run at the same time, and for how long while others wait. */
export interface TurnLimit {
  readonly atOnce: number;
  readonly perNamespace: number;
  /** How many of them may be of namespaces whose last task was slow: servers that make the operator wait leave room for the others. */
  readonly slowAtOnce: number;
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
    /** It was asked to end, and has not yet. */
    readonly isEnding: boolean;
    /** The last task of its namespace was slow. */
    readonly wasSlow: boolean;
  }[];
  /** Namespaces of the tasks that wait, in the order in which they came, and whether their last task was slow. */
  readonly waiting: readonly { readonly namespace: string; readonly wasSlow: boolean }[];
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
/** A task that moves nothing for longer is slow. */
const slowMs = 10_000;

/** How much longer a task holds its turn than one that moves what it should, in milliseconds. */
function idleMs({ heldMs, bytes }: { readonly heldMs: number; readonly bytes: number }): number {
  return heldMs - (bytes / keepingBytesPerSecond) * 1000;
}

/** Whether the next tasks of its namespace have a turn only among those of slow ones. */
export function isSlow(task: { readonly heldMs: number; readonly bytes: number }): boolean {
  return idleMs(task) > slowMs;
}

/**
 * Whose turn it is: that of the namespace which holds fewest, then of the one that began least recently, so that the number of its
 * control planes gives a namespace no more. Namespaces whose last task was slow have a part of the turns together. While all turns are
 * held, a task that is slow and has had its share ends in favour of a namespace that holds fewer: a server that sends a byte now and then
 * would otherwise hold a turn of all others.
 */
export function nextTurn({ limit, running, waiting, lastBegan }: TurnSituation): TurnDecision {
  const heldBy = (namespace: string) => running.filter((one) => one.namespace === namespace).length;
  const inOrder = waiting
    .map(({ namespace, wasSlow }, index) => {
      return { namespace, wasSlow, index, held: heldBy(namespace), began: lastBegan.get(namespace) ?? 0 };
    })
    .filter(({ held }) => held < limit.perNamespace)
    .sort((one, other) => one.held - other.held || one.began - other.began || one.index - other.index);
  const slow = running.filter(({ wasSlow }) => wasSlow).length;
  const isSlowFull = slow >= limit.slowAtOnce;
  const isFull = running.length >= limit.atOnce;
  const beginning = isFull ? undefined : inOrder.find(({ wasSlow }) => !wasSlow || !isSlowFull);
  if (beginning) return { kind: 'begin', index: beginning.index };
  const [next] = inOrder;
  if (!next) return { kind: 'wait' };
  const ending = running.filter(({ isEnding }) => isEnding).length;
  if (ending >= new Set(waiting.map(({ namespace }) => namespace)).size) return { kind: 'wait' };
  const [slowest] = running
    .map((task, index) => {
      return { ...task, index, overMs: idleMs(task) - limit.shareMs, held: heldBy(task.namespace) };
    })
    // One of the others would leave its turn to none of the slow.
    .filter(({ wasSlow }) => isFull || wasSlow)
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
