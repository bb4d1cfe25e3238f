import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { lentChain } from './lent-chain.ts';

/**
 * Files of which each takes long, and begins before all others in this order, so that no worker begins a long one when the others are
 * done. They are named without their tier: of two files of one subject, that of `npm test` comes first.
 */
export const first: readonly string[] = [
  'test/simulation/years.test.ts',
  'test/scenarios/outages/killed.test.ts',
  'test/scenarios/refusals/attended.test.ts',
  'test/scenarios/refusals/checked-configuration.test.ts',
  'test/scenarios/move/move.test.ts',
  'test/cluster/upgrade/minors.test.ts',
  'test/cluster/etcd/members.test.ts',
];

/**
 * Of the files that run one after the other, so that their order changes no duration, the heaviest come last: beside the heaviest
 * ones of the other lane, which come first, control planes would restart each other's containers on a slow machine.
 */
export const last: readonly string[] = ['test/system/operator-as-pod.test.ts', 'test/system/demo.test.ts'];

/**
 * The order of files: the same in every run of the same files, whatever a machine or a commit has measured. A file that passes has
 * then passed after the same ones before. What is not named comes by its name. Those that lend control planes come first, in their chain.
 */
export function fixedOrder(files: readonly string[]): string[] {
  const keyed = files.map((file) => ({ file, subject: subjectOf(file), place: placeOf(subjectOf(file)) }));
  const byName = (one: string, other: string) => (one === other ? 0 : one < other ? -1 : 1);
  keyed.sort(
    (one, other) =>
      one.place - other.place || byName(one.subject, other.subject) || one.file.length - other.file.length,
  );
  return keyed.map(({ file }) => file);
}

/** The name of a file without its tier. */
function subjectOf(file: string): string {
  return file.replace(/^test\/full\//, 'test/');
}

function placeOf(subject: string): number {
  const lent = lentChain.indexOf(subject);
  if (lent >= 0) return lent - lentChain.length;
  const end = last.indexOf(subject);
  if (end >= 0) return first.length + 1 + end;
  const start = first.indexOf(subject);
  return start >= 0 ? start : first.length;
}

/** Gives vitest's workers the files in their order. */
export class FixedOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const nameOf = ({ moduleId }: TestSpecification) => relative(this.ctx.config.root, moduleId);
    const place = new Map(fixedOrder(files.map(nameOf)).map((file, index) => [file, index]));
    return [...files].sort((one, other) => (place.get(nameOf(one)) ?? 0) - (place.get(nameOf(other)) ?? 0));
  }
}
