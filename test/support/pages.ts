import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Directory of the repository. */
export const repository = join(import.meta.dirname, '../..');

/** How a page says where a block comes from, on the line before it. */
export type Marker =
  /** `<!-- proof: FILE ... -->`: these files run or apply the block. */
  | { readonly kind: 'proof'; readonly files: readonly string[] }
  /** `<!-- excerpt -->`: a part of something, or a command that needs what the reader has. */
  | { readonly kind: 'excerpt' };

/** Whether a test with this source reads a page, and runs or compares its blocks as they are. */
export function isReplayedBy(source: string, path: string): boolean {
  return source.includes(`readPage('${path}')`);
}

/** A fenced block of a page. */
export interface Block {
  /** Such as `README.md:12`. */
  readonly place: string;
  /** What follows the opening fence, such as `yaml`. */
  readonly language: string;
  readonly content: string;
  readonly marker: Marker | undefined;
}

/** A page of the repository. */
export interface Page {
  /** Path from the root of the repository. */
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
  /** The text without its blocks. */
  readonly prose: string;
}

/** Every page of the repository, in the order of their paths; reports of API Extractor are files for programs. */
export async function readPages(): Promise<Page[]> {
  const paths = globSync(['*.md', '{constructs,dist,imports,reconciler,test}/**/*.md'], {
    cwd: repository,
    exclude: ['**/*.api.md'],
  });
  return Promise.all(paths.sort().map(readPage));
}

/** @param path from the root of the repository */
export async function readPage(path: string): Promise<Page> {
  const text = await readFile(join(repository, path), 'utf8');
  return { path, text, ...partsOf(path, text) };
}

/**
 * Tells blocks from prose.
 * @throws for a block that never ends
 */
export function partsOf(path: string, text: string): Pick<Page, 'blocks' | 'prose'> {
  const blocks: Block[] = [];
  const prose: string[] = [];
  let open: { readonly language: string; readonly start: number; readonly content: string[] } | undefined;
  const lines = text.split('\n');
  for (const [index, line] of lines.entries()) {
    if (open && line === '```') {
      const { language, start, content } = open;
      const place = `${path}:${start + 1}`;
      blocks.push({ place, language, content: content.join('\n'), marker: markerIn(lines[start - 1] ?? '') });
      open = undefined;
    } else if (open) open.content.push(line);
    else if (line.startsWith('```')) open = { language: line.slice(3).trim(), start: index, content: [] };
    else prose.push(line);
  }
  if (open) throw new Error(`${path}:${open.start + 1}: the block never ends`);
  return { blocks, prose: prose.join('\n') };
}

function markerIn(line: string): Marker | undefined {
  if (line === '<!-- excerpt -->') return { kind: 'excerpt' };
  const files = /^<!-- proof: (.+) -->$/.exec(line)?.[1];
  return files === undefined ? undefined : { kind: 'proof', files: files.split(' ') };
}

/** Targets of the links of a page, as they are written. */
export function linksOf({ prose }: Pick<Page, 'prose'>): string[] {
  return [...withoutCode(prose).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
}

/** What can follow the `#` of a link to a page: its headings, as code hosts spell them. */
export function anchorsOf({ prose }: Pick<Page, 'prose'>): string[] {
  const seen = new Map<string, number>();
  return [...prose.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => {
    const anchor = heading
      .toLowerCase()
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-');
    const times = seen.get(anchor) ?? 0;
    seen.set(anchor, times + 1);
    return times === 0 ? anchor : `${anchor}-${times}`;
  });
}

/** The text below a heading until the next one of any level; the whole text without an anchor. */
export function sectionOf(page: Page, anchor: string | undefined): string {
  if (anchor === undefined) return page.text;
  const index = anchorsOf(page).indexOf(anchor);
  // a comment of shell is no heading: blocks are skipped
  const headings = [...page.text.matchAll(/^```[^]*?^```$|^#{1,6} .+$/gm)].filter(([text]) => text.startsWith('#'));
  return page.text.slice(headings[index]?.index, headings[index + 1]?.index);
}

const rooms = 'constructs|dist|imports|reconciler|test';

/** Inline code of a page that names files of the repository; a name may be a pattern, or lack the ending. */
export function filesNamedIn({ prose }: Pick<Page, 'prose'>): string[] {
  const codes = [...prose.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
  return codes.filter((code) => new RegExp(`^(?:${rooms})/[\\w./*{},-]*$`).test(code));
}

/** Whether there is such a file or directory: also as a pattern, and without the ending of a test or of a module. */
export function isInRepository(name: string): boolean {
  const path = name.replace(/\/$/, '');
  const bare = path.startsWith('test/') ? ['', '.test.ts', '.ts'] : ['', '.ts'];
  // every alternative of braces has to exist
  return alternatives(path).every((one) =>
    bare.some((ending) => globSync(one + ending, { cwd: repository }).length > 0),
  );
}

function alternatives(pattern: string): string[] {
  const [, before = '', names = '', after = ''] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(pattern) ?? [];
  if (names === '') return [pattern];
  return names.split(',').flatMap((name) => alternatives(`${before}${name}${after}`));
}

function withoutCode(prose: string): string {
  return prose.replaceAll(/`[^`\n]*`/g, '``');
}

/**
 * Files and directories that a tree of a page names, from the root of the repository. Names begin their line, directories
 * end in a slash, and what is two spaces further to the right lies in the directory above.
 */
export function treeOf(content: string): string[] {
  const above: string[] = [];
  return content.split('\n').flatMap((line) => {
    const [, indent = '', name] = /^( *)([\w.-]+\/?)(?: |$)/.exec(line) ?? [];
    const depth = indent.length / 2;
    if (name === undefined || depth > above.length) return [];
    above.length = depth;
    const path = [...above, name].join('');
    if (name.endsWith('/')) above.push(name);
    return [path];
  });
}

/**
 * The commands of a block of shell, one for each program that is called, as words. Comments, variables before a command,
 * redirections and quotes are left out.
 */
export function commandsOf(content: string): string[][] {
  const lines = content.replaceAll(/\\\n\s*/g, '').split('\n');
  return lines
    .flatMap((line) => line.replace(/(^|\s)#.*$/, '').split(/&&|\|\||[|;]/))
    .map((command) => {
      const words = [...command.replace(/\s[0-9]?>{1,2}\s*\S+/g, '').matchAll(/'[^']*'|"[^"]*"|\S+/g)].map(([word]) =>
        word.replaceAll(/^['"]|['"]$/g, ''),
      );
      while (/^[A-Z_]+=/.test(words[0] ?? '')) words.shift();
      return words;
    })
    .filter(({ length }) => length > 0);
}
