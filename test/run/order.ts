import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import durations from './durations.json' with { type: 'json' };
import type { Durations } from './file-times.ts';

/** A file without a duration starts early, because it may be a long one. */
const unknownSeconds = 120;

/** The longest first, so that no worker starts a long one when the others are done. The same files give the same order. */
export function longestFirst(files: readonly string[], known: Durations): string[] {
  const seconds = (file: string): number => known[file] ?? unknownSeconds;
  return [...files].sort((one, other) => seconds(other) - seconds(one) || (one < other ? -1 : 1));
}

/** A sequencer for vitest that gives its workers the longest files first, by the committed durations. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const nameOf = ({ moduleId }: TestSpecification) => relative(this.ctx.config.root, moduleId);
    const order = longestFirst(files.map(nameOf), durations);
    const place = new Map(order.map((file, index) => [file, index]));
    return [...files].sort((one, other) => (place.get(nameOf(one)) ?? 0) - (place.get(nameOf(other)) ?? 0));
  }
}
