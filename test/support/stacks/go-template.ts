import { createHash } from 'node:crypto';

/** Variables and values that a template reads. */
export type TemplateData = Readonly<Record<string, unknown>>;

type Node =
  | { readonly text: string }
  | { readonly print: string }
  | { readonly branches: readonly { readonly condition: string | undefined; readonly body: readonly Node[] }[] }
  | { readonly range: string; readonly body: readonly Node[] };

/**
 * Renders the part of Go's templates that the stacks use, as Helm and Cluster API do.
 * @throws for everything else
 */
export function renderTemplate(template: string, data: unknown): string {
  const { nodes, rest } = parse(tokensOf(template));
  if (rest.length > 0) throw new Error(`unexpected {{ ${rest[0]?.text} }}`);
  return render(nodes, data, data);
}

interface Token {
  readonly kind: 'text' | 'action';
  readonly text: string;
}

function tokensOf(template: string): Token[] {
  const tokens: Token[] = [];
  const action = /(\s*\{\{-\s|\{\{)((?:`[^`]*`|"(?:[^"\\]|\\.)*"|[^`"])*?)(\s-\}\}\s*|\}\})/g;
  let end = 0;
  for (const match of template.matchAll(action)) {
    tokens.push({ kind: 'text', text: template.slice(end, match.index) });
    tokens.push({ kind: 'action', text: (match[2] ?? '').trim() });
    end = match.index + match[0].length;
  }
  return [...tokens, { kind: 'text', text: template.slice(end) }];
}

function parse(tokens: readonly Token[]): { nodes: Node[]; rest: readonly Token[] } {
  const nodes: Node[] = [];
  let rest = tokens;
  while (rest.length > 0) {
    const [{ kind, text } = { kind: 'text', text: '' }, ...after] = rest;
    if (kind === 'text') {
      nodes.push({ text });
      rest = after;
    } else if (/^(else\b|end$)/.test(text)) break;
    else if (text.startsWith('/*')) rest = after;
    else if (/^(if|range)\s/.test(text)) {
      const parsed = text.startsWith('if') ? parseIf(rest) : parseRange(rest);
      nodes.push(parsed.node);
      rest = parsed.rest;
    } else {
      nodes.push({ print: text });
      rest = after;
    }
  }
  return { nodes, rest };
}

function parseIf(tokens: readonly Token[]): { node: Node; rest: readonly Token[] } {
  const branches: { condition: string | undefined; body: Node[] }[] = [];
  let rest = tokens;
  for (;;) {
    const [head, ...after] = rest;
    const keyword = head?.text ?? '';
    if (keyword === 'end') return { node: { branches }, rest: after };
    const condition = /^(?:else )?if (.*)$/s.exec(keyword)?.[1];
    if (condition === undefined && keyword !== 'else') throw new Error(`an if without end, at {{ ${keyword} }}`);
    const { nodes, rest: next } = parse(after);
    branches.push({ condition, body: nodes });
    rest = next;
  }
}

function parseRange([head, ...tokens]: readonly Token[]): { node: Node; rest: readonly Token[] } {
  const { nodes, rest } = parse(tokens);
  if (rest[0]?.text !== 'end') throw new Error('a range without end');
  return { node: { range: (head?.text ?? '').replace(/^range /, ''), body: nodes }, rest: rest.slice(1) };
}

function render(nodes: readonly Node[], dot: unknown, root: unknown): string {
  return nodes
    .map((node) => {
      if ('text' in node) return node.text;
      if ('print' in node) return print(evaluate(node.print, dot, root));
      if ('range' in node) {
        const list = (evaluate(node.range, dot, root) ?? []) as readonly unknown[];
        return list.map((one) => render(node.body, one, root)).join('');
      }
      const taken = node.branches.find(
        ({ condition }) => condition === undefined || truth(evaluate(condition, dot, root)),
      );
      return taken ? render(taken.body, dot, root) : '';
    })
    .join('');
}

function print(value: unknown): string {
  if (value === undefined || value === null) return '<no value>';
  if (typeof value === 'object') throw new Error(`a template prints ${JSON.stringify(value)}: use toJson`);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** What Go counts as true: nothing that is empty. */
function truth(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return Boolean(value);
}

const functions: Readonly<Record<string, (...args: unknown[]) => unknown>> = {
  eq: (a, ...others) => others.includes(a),
  ne: (a, b) => a !== b,
  gt: (a, b) => Number(a) > Number(b),
  not: (a) => !truth(a),
  and: (...args) => args.find((arg) => !truth(arg)) ?? args.at(-1),
  or: (...args) => args.find(truth) ?? args.at(-1),
  len: (a) => (a as string | readonly unknown[]).length,
  quote: (a) => JSON.stringify(String(a)),
  toJson: (a) => JSON.stringify(sorted(a)),
  default: (fallback, value) => (truth(value) ? value : fallback),
  trunc: (length, text) => String(text).slice(0, Number(length)),
  sha256sum: (text) => createHash('sha256').update(String(text)).digest('hex'),
  printf: (format, ...args) => args.reduce<string>((text, arg) => text.replace(/%[sd]/, String(arg)), String(format)),
  regexReplaceAll: (pattern, text, to) => String(text).replaceAll(new RegExp(String(pattern), 'g'), String(to)),
  fail: (message) => {
    throw new Error(String(message));
  },
};

/** Go writes the keys of maps in their order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, sorted(member)]));
}

/** A pipeline: the value of each command is the last argument of the next one. */
function evaluate(expression: string, dot: unknown, root: unknown): unknown {
  const commands: string[][] = [[]];
  for (const [word] of expression.matchAll(/`[^`]*`|"(?:[^"\\]|\\.)*"|\||\((?:[^()]|\([^()]*\))*\)|[^\s|()]+/g)) {
    if (word === '|') commands.push([]);
    else commands.at(-1)?.push(word);
  }
  return commands.reduce<unknown>((piped, words, index) => {
    const [head = '', ...others] = words;
    const args = [...others.map((word) => operand(word, dot, root)), ...(index > 0 ? [piped] : [])];
    const called = functions[head];
    if (called) return called(...args);
    if (args.length > 0) throw new Error(`no function ${head} in {{ ${expression} }}`);
    return operand(head, dot, root);
  }, undefined);
}

function operand(word: string, dot: unknown, root: unknown): unknown {
  if (word.startsWith('(')) return evaluate(word.slice(1, -1), dot, root);
  if (word.startsWith('`')) return word.slice(1, -1);
  if (word.startsWith('"')) return JSON.parse(word) as unknown;
  if (/^\d+$/.test(word)) return Number(word);
  if (word === '.') return dot;
  if (!/^\$?\./.test(word)) throw new Error(`no value ${word}`);
  const from = word.startsWith('$') ? root : dot;
  return word
    .replace(/^\$?\./, '')
    .split('.')
    .reduce((value, key) => (value as TemplateData | undefined)?.[key], from);
}
