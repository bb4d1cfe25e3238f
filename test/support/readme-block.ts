/** The content between the markers of a block. @throws as {@link withBlock} does */
export function blockIn(text: string, name: string): string {
  return partsOf(text, name).content;
}

/**
 * The text with other content between the markers `<!-- name -->` and `<!-- /name -->`, and everything else as it was.
 * @throws when the text does not have each marker once, in order.
 */
export function withBlock(text: string, name: string, content: string): string {
  const { before, begin, end, after } = partsOf(text, name);
  return `${before}${begin}\n\n${content}\n${end}${after}`;
}

function partsOf(text: string, name: string) {
  const begin = `<!-- ${name} -->`;
  const end = `<!-- /${name} -->`;
  const [before, rest, ...moreBegins] = text.split(begin);
  const [content, after, ...moreEnds] = (rest ?? '').split(end);
  if (before === undefined || content === undefined || after === undefined || moreBegins.length + moreEnds.length > 0) {
    throw new Error(`the text must hold ${begin} and after it ${end}, each once`);
  }
  return { before, begin, content, end, after };
}

/** Rows as a table in Markdown; the first one is its heading. */
export function markdownTable([heading = [], ...rows]: readonly (readonly string[])[]): string {
  return [heading, heading.map(() => '---'), ...rows].map((cells) => `| ${cells.map(cellOf).join(' | ')} |\n`).join('');
}

/** Lines as a fenced block, which ends in a line break as tables do. */
export function fencedBlock(language: string, lines: readonly string[]): string {
  return ['```' + language, ...lines, '```', ''].join('\n');
}

function cellOf(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').trim();
}
