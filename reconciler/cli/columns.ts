import type { View } from './view.ts';
import { cut, widthOf } from './wrapped.ts';

type Rows = readonly (readonly string[])[];

const gap = '   ';

/** The last column is not cut below this, however narrow the terminal is: a few letters say nothing. */
const leastProse = 20;

/**
 * Rows as lines of a table. Every column is as wide as its longest text, with three spaces between columns and no
 * trailing spaces.
 */
export function columns(rows: Rows): string[] {
  const widths = widthsOf(rows);
  return rows.map((row) =>
    row
      .map((text, index) => text + ' '.repeat((widths[index] ?? 0) - widthOf(text)))
      .join(gap)
      .trimEnd(),
  );
}

/**
 * A heading and its rows as lines of a table.
 * @param last what is in the last column: prose is cut to the width of the terminal, and names never are, because a person copies them
 */
export function table(
  [heading = [], ...rows]: Rows,
  { paint, width }: View,
  last: 'names' | 'prose' = 'names',
): string[] {
  const painted = [heading.map((text) => paint('heading', text)), ...rows];
  if (width === undefined || last === 'names') return columns(painted);
  const before = widthsOf(painted.map((row) => row.slice(0, -1)));
  const room = before.reduce((left, taken) => left - taken - gap.length, width);
  return columns(painted.map((row) => [...row.slice(0, -1), cut(row.at(-1) ?? '', Math.max(room, leastProse))]));
}

/**
 * A heading and its rows without the columns that have no room in the width.
 * @param givingWay the columns that may be left out, the first one first
 */
export function fitting(
  rows: Rows,
  width: number | undefined,
  givingWay: readonly string[],
): { readonly rows: Rows; readonly leftOut: readonly string[] } {
  const leftOut: string[] = [];
  let kept = rows;
  for (const name of givingWay) {
    if (widthsOf(kept).reduce((sum, taken) => sum + taken + gap.length, -gap.length) <= (width ?? Infinity)) break;
    const index = kept[0]?.indexOf(name) ?? 0;
    kept = kept.map((row) => row.toSpliced(index, 1));
    leftOut.push(name);
  }
  return { rows: kept, leftOut };
}

function widthsOf(rows: Rows): number[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, text] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, widthOf(text));
  }
  return widths;
}
