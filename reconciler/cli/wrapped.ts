import { stripVTControlCharacters } from 'node:util';

/** Characters that a text takes in a line: those of its colours take none. One that is two wide, as in Chinese, counts once. */
export function widthOf(text: string): number {
  return Array.from(stripVTControlCharacters(text)).length;
}

/** How the lines of a text begin: by default with nothing. */
interface Indent {
  readonly first?: string;
  /** Of each further line; as many spaces as `first` is wide when unset. */
  readonly further?: string;
}

/** Of a text whose first line stands out. */
export const hanging: Indent = { further: '  ' };

/**
 * A text as lines of at most so many characters, divided between words only: a longer word, such as a name or an address, keeps
 * a line of its own. One line without a width.
 */
export function wrapped(text: string, width: number | undefined, { first = '', further }: Indent): string[] {
  if (width === undefined) return [`${first}${text}`];
  const indent = further ?? ' '.repeat(widthOf(first));
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    let start = lines.length === 0 ? first : indent;
    let line = '';
    for (const word of paragraph.split(' ')) {
      if (line !== '' && widthOf(start) + widthOf(line) + 1 + widthOf(word) > width) {
        lines.push(`${start}${line.trimEnd()}`);
        [start, line] = [indent, word];
      } else line = line === '' ? word : `${line} ${word}`;
    }
    lines.push(`${start}${line}`.trimEnd());
  }
  return lines;
}

/** A text without colours and line breaks whose end gives way to `…` where it is longer than so many characters. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  const kept = Array.from(stripVTControlCharacters(text)).slice(0, width - 1);
  return `${kept.join('').trimEnd()}…`;
}
