import { isDeepStrictEqual } from 'node:util';
import { markdownTable, withBlock } from '../../support/readme-block.ts';
import { type Figure, goalWords, isMet } from './figure.ts';
import { processParts, testbedParts } from './parts.ts';
import type { Result } from './result.ts';

/** The page with the newest kept result of each part and extent, beside the one before. */
export function withResults(page: string, kept: readonly Result[]): string {
  return [...processParts, ...testbedParts].reduce((text, part) => {
    const results = kept.filter((result) => result.part === part);
    const newest = results.filter(
      (result, index) => !results.slice(index + 1).some((later) => isSameExtent(later, result)),
    );
    const tables = newest.map((result) =>
      tableOf(
        result,
        results.slice(0, results.indexOf(result)).findLast((one) => isSameExtent(one, result)),
      ),
    );
    return withBlock(
      text,
      part.replaceAll('-', ' '),
      tables.length > 0 ? tables.join('\n') : 'No result has been kept yet.\n',
    );
  }, page);
}

function isSameExtent(one: Result, other: Result): boolean {
  const { runs: _, ...size } = one.extent;
  const { runs: __, ...otherSize } = other.extent;
  return isDeepStrictEqual(size, otherSize);
}

/** What was measured, where, and how it is measured again. */
function tableOf(result: Result, before: Result | undefined): string {
  const { part, extent, figures } = result;
  const flags = Object.entries(extent).map(
    ([name, value]) => ` --${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} ${value}`,
  );
  const places = [`measured ${placeOf(result)}`, ...(before ? [`before ${placeOf(before)}`] : [])];
  const heading = ['figure', ...(before ? ['before'] : []), 'measured', 'goal'];
  const rows = figures.map((figure) => {
    const old = before?.figures.find(({ name }) => name === figure.name);
    return [
      figure.name,
      ...(before ? [old ? valueOf(old) : ''] : []),
      valued(figure),
      figure.goal ? goalWords(figure.goal) : '',
    ];
  });
  return `\`npm run bench -- --only ${part}${flags.join('')}\`: ${places.join('; ')}.\n\n${markdownTable([heading, ...rows])}`;
}

/** Day, commit, machine and what its processors did. */
export function placeOf({ date, commit, machine, coreSeconds }: Result): string {
  const { processor, cores, memoryGiB, node } = machine;
  return [
    `on ${date}`,
    ...(commit === undefined ? [] : [`at ${commit}`]),
    `on ${cores} cores${processor === undefined ? '' : ` (${processor})`}`,
    ...(memoryGiB === undefined ? [] : [`${memoryGiB} GiB`]),
    ...(node === undefined ? [] : [`Node ${node}`]),
    ...(coreSeconds === undefined ? [] : [`${coreSeconds} core-seconds`]),
  ].join(', ');
}

/** A figure that misses its goal is bold. */
function valued(figure: Figure): string {
  return isMet(figure) ? valueOf(figure) : `**${valueOf(figure)}, goal missed**`;
}

export function valueOf({ value, unit }: Pick<Figure, 'value' | 'unit'>): string {
  const number = value.toLocaleString('en-US', { maximumFractionDigits: Math.abs(value) < 100 ? 2 : 0 });
  return unit === 'ratio' ? number : `${number} ${unit}`.trim();
}
