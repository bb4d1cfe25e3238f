/** Text of a page that is markup already. Everything else is escaped where it is put into one. */
export class Markup {
  readonly text: string;

  /** @param text of this program, never of a cluster */
  constructor(text: string) {
    this.text = text;
  }
}

/** What a template takes: strings are escaped and cut, markup is kept, and what is absent is nothing. */
export type Content = Markup | string | number | undefined | readonly Content[];

/** The most characters of one text: a reader needs no more, and longer ones of 200 control planes would fill the page. */
const longest = 1500;

/**
 * A template that escapes what is put into it, for elements and for attributes in double quotes: names and messages come from
 * clusters, whose users may be hostile.
 */
export function markup(strings: TemplateStringsArray, ...values: readonly Content[]): Markup {
  return new Markup(strings.map((part, index) => `${part}${rendered(values[index])}`).join(''));
}

function rendered(value: Content): string {
  if (value === undefined) return '';
  if (value instanceof Markup) return value.text;
  if (typeof value === 'string') return escaped(value);
  return typeof value === 'number' ? String(value) : value.map(rendered).join('');
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Without what XML forbids, and without what turns the direction of the text around it. */
function escaped(text: string): string {
  const kept = text.length > longest ? `${text.slice(0, longest).trimEnd()}…` : text;
  return kept
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Bidi_Control}\uFFFE\uFFFF]/gu, (one) => (/\s/.test(one) ? ' ' : '\uFFFD'))
    .replaceAll(/[&<>"']/g, (one) => entities[one] ?? one);
}
