import { markdownTable, withBlock } from '../../support/readme-block.ts';
import { highlyAvailable, smallest } from './extent.ts';
import { placeOf, valueOf } from './figure-tables.ts';
import type peers from './peers.json';
import type { Result } from './result.ts';

/** Of figures that do not depend on the shape, one is enough. */
const shapes = [
  ['2 + 3', highlyAvailable],
  ['1 + 1', smallest],
] as const;

/** The page with what others were measured to take, and the newest kept figures beside it. */
export function withPeers(page: string, { columns, rows }: typeof peers, kept: readonly Result[]): string {
  const own = rows.map(({ own: name }) => shapes.map(([, shape]) => newest(kept, [`${shape.name}: ${name}`, name])));
  const table = markdownTable([
    ['', ...shapes.map(([shape]) => `here ${shape}`), ...columns],
    ...rows.map(({ what, peers: others }, index) => [
      what,
      ...(own[index] ?? []).map((found) => found?.text ?? 'missing'),
      ...others,
    ]),
  ]);
  const places = new Set(own.flat().flatMap((found) => (found ? [`${found.part} ${found.place}`] : [])));
  const missing = rows.filter((_, index) => own[index]?.includes(undefined)).map(({ what }) => what);
  const gaps = missing.length > 0 ? `\nNo kept result here has yet: ${missing.join('; ')}.\n` : '';
  return withBlock(page, 'peers', `${table}\nMeasured here: ${[...places].join('; ')}.\n${gaps}`);
}

function newest(kept: readonly Result[], names: readonly string[]) {
  const result = kept.findLast(({ figures }) => figures.some(({ name }) => names.includes(name)));
  const figure = result?.figures.find(({ name }) => names.includes(name));
  return result && figure && { text: valueOf(figure), part: result.part, place: placeOf(result) };
}
