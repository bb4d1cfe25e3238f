/** A string or template literal of a TypeScript source. */
export interface Literal {
  /** Line on which it starts, from 1. */
  readonly line: number;
  /** Its text. `…` stands for each substitution of a template. */
  readonly text: string;
}

/**
 * The string and template literals of a TypeScript source, including those within substitutions. Comments and regular
 * expressions are skipped.
 */
export function literalsOf(source: string): Literal[] {
  const found: Literal[] = [];
  readCode(source, 0, found);
  return found;
}

/** Reads code up to the `}` that closes a substitution, or up to the end. Returns the position after it. */
function readCode(source: string, start: number, found: Literal[]): number {
  let depth = 0;
  let before = '';
  for (let at = start; at < source.length;) {
    const char = source[at] ?? '';
    const end = skipped(source, at, before);
    if (end !== undefined) {
      // A comment does not change what a slash after it means.
      if (!/^\/[/*]/.test(source.slice(at, at + 2))) before = '/';
      at = end;
      continue;
    }
    if (char === "'" || char === '"' || char === '`') {
      at = char === '`' ? readTemplate(source, at, found) : readString(source, at, found);
      before = char;
      continue;
    }
    if (char === '{') depth += 1;
    if (char === '}' && depth-- === 0) return at + 1;
    if (char.trim() !== '') before = /\w/.test(char) && /\w/.test(source[at - 1] ?? '') ? before + char : char;
    at += 1;
  }
  return source.length;
}

/** The end of a comment or regular expression that starts here. @param before the last word or sign */
function skipped(source: string, at: number, before: string): number | undefined {
  if (source[at] !== '/') return undefined;
  if (source[at + 1] === '/') return endOf(source, source.indexOf('\n', at));
  if (source[at + 1] === '*') return endOf(source, source.indexOf('*/', at) + 2);
  const startsExpression = before === '' || /^([(,=:[!&|?{};+<>]|return|typeof|case)$/.test(before);
  if (!startsExpression) return undefined;
  const [expression] = /^\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/.exec(source.slice(at)) ?? [];
  return expression === undefined ? undefined : at + expression.length;
}

function endOf(source: string, position: number): number {
  return position < 2 ? source.length : position;
}

function readString(source: string, start: number, found: Literal[]): number {
  let text = '';
  for (let at = start + 1; at < source.length; at++) {
    const char = source[at] ?? '';
    if (char === source[start]) {
      found.push({ line: lineAt(source, start), text });
      return at + 1;
    }
    text += char === '\\' ? (source[++at] ?? '') : char;
  }
  return source.length;
}

function readTemplate(source: string, start: number, found: Literal[]): number {
  let text = '';
  for (let at = start + 1; at < source.length; at++) {
    const char = source[at] ?? '';
    if (char === '`') {
      found.push({ line: lineAt(source, start), text });
      return at + 1;
    }
    if (char === '$' && source[at + 1] === '{') {
      text += '…';
      at = readCode(source, at + 2, found) - 1;
    } else {
      text += char === '\\' ? (source[++at] ?? '') : char;
    }
  }
  return source.length;
}

function lineAt(source: string, position: number): number {
  return source.slice(0, position).split('\n').length;
}
