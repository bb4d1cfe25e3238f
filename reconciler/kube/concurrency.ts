import { messageOf } from './error-message.ts';

/**
 * Runs the function for every item, at most `limit` concurrently, and returns the outcomes in the order of the items. A
 * failure does not prevent the other items.
 */
export async function settleAll<Item, Result>(
  items: readonly Item[],
  limit: number,
  run: (item: Item) => Promise<Result>,
): Promise<PromiseSettledResult<Result>[]> {
  const outcomes: PromiseSettledResult<Result>[] = [];
  const entries = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of entries) [outcomes[index]] = await Promise.allSettled([run(item)]);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return outcomes;
}

/**
 * The results. Throws a single failure unchanged, and several as an AggregateError whose message starts with the first.
 */
export function resultsOf<Result>(outcomes: readonly PromiseSettledResult<Result>[]): Result[] {
  const failures: unknown[] = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  if (failures.length === 1) throw failures[0];
  if (failures.length > 1) {
    const first = messageOf(failures[0]);
    throw new AggregateError(failures, `${first} (and ${failures.length - 1} more)`);
  }
  return outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
}
