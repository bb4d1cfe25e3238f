import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import durations from './durations.json' with { type: 'json' };
import type { Durations } from './file-times.ts';

/** A file on real binaries that no run has measured yet begins early: it may be a long one. */
const unknownSeconds = 120;

/**
 * The longest first, so that no worker begins a long one when the others are done. The same files give the same order.
 * @param unknown seconds of a file that is not among the known ones
 */
export function longestFirst(files: readonly string[], known: Durations, unknown = unknownSeconds): string[] {
  const seconds = (file: string): number => known[file] ?? unknown;
  return [...files].sort((one, other) => seconds(other) - seconds(one) || (one < other ? -1 : 1));
}

/**
 * The order of one project's files. Of the pure files only the long ones are known. A project that runs one file at a time ends as soon whatever the order: it begins with
 * its shortest ones, so that its heaviest do not start while the other project starts its heaviest. On a machine that is
 * already slow, both at once are more than its control planes survive: they restart each other's containers.
 */
export function orderOf(project: string, files: readonly string[], known: Durations): string[] {
  const order = longestFirst(files, known, project === 'unit' ? 0 : unknownSeconds);
  return project === 'host' ? order.toReversed() : order;
}

/** Gives vitest's workers each project's files in their order, by the committed durations. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const nameOf = ({ moduleId }: TestSpecification) => relative(this.ctx.config.root, moduleId);
    const projects = Map.groupBy(files, ({ project }) => project.name);
    const order = [...projects].flatMap(([name, own]) => orderOf(name, own.map(nameOf), durations));
    const place = new Map(order.map((file, index) => [file, index]));
    return [...files].sort((one, other) => (place.get(nameOf(one)) ?? 0) - (place.get(nameOf(other)) ?? 0));
  }
}
