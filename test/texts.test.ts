import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { conditions } from '../constructs/api/conditions.ts';
import { hcp } from '../reconciler/cli/commands.ts';
import { allCommands } from '../reconciler/cli/command.ts';
import { helpOf, helpOfAll } from '../reconciler/cli/help.ts';
import { hcpImport } from '../reconciler/import/program.ts';
import { avoidedForUsersIn, avoidedIn, avoidedPhrases, avoidedWords, wordsOf } from './support/words.ts';

const root = join(import.meta.dirname, '..');

const filesOf = (...patterns: string[]): string[] =>
  globSync(patterns, { cwd: root, exclude: (name) => ['node_modules', 'build', '.git'].includes(name) })
    .map((file) => file.replaceAll('\\', '/'))
    .toSorted();

const read = (file: string): Promise<string> => readFile(join(root, file), 'utf8');

/** Literals that are not texts for users although they contain an avoided word, by file, with the reason. */
const allowed: readonly { readonly file: string; readonly text: string; readonly why: string }[] = [];

interface Part {
  /** Line of the source on which it starts, from 1. */
  readonly line: number;
  readonly text: string;
}

/** The parts of a source: comments, the contents of string and template literals, and the code between them. */
function partsOf(source: string): Readonly<Record<'comments' | 'literals' | 'code', Part[]>> {
  const parts: Record<'comments' | 'literals' | 'code', Part[]> = { comments: [], literals: [], code: [] };
  let line = 1;
  for (const token of source.split(
    /(\/\/.*|\/\*[^]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`)/,
  )) {
    if (/^\/[/*]/.test(token)) parts.comments.push({ line, text: token.replaceAll(/^\s*(?:\/\/|\/?\*+\/?)/gm, '') });
    else if (/^['"`]/.test(token)) {
      const inserted = [...token.matchAll(/\$\{([^}]*)/g)].map(([, code = '']) => code).join(' ');
      parts.literals.push({ line, text: token.slice(1, -1).replaceAll(/\$\{[^}]*(?:\}|$)/g, '…') });
      if (token.startsWith('`')) parts.code.push({ line, text: inserted });
    } else parts.code.push({ line, text: token });
    line += token.split('\n').length - 1;
  }
  return parts;
}

/** Each name in a piece of code as its words, on its line. */
function namesIn(code: string): string {
  return code.replaceAll(/[^\w\n]+/g, ' ; ').replaceAll(/\w+/g, wordsOf);
}

/** Every text below a key with one of these names. */
function textsBelow(value: unknown, keys: readonly string[], path = ''): { path: string; text: string }[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [
    ...(typeof member === 'string' && keys.includes(key) ? [{ path: `${path}.${key}`, text: member }] : []),
    ...textsBelow(member, keys, `${path}.${key}`),
  ]);
}

/**
 * @param line line of the place on which the text starts; without it the place has no lines
 * @param usesIn what is avoided in the text
 */
const problemsOf = (place: string, text: string, line?: number, usesIn = avoidedForUsersIn): string[] =>
  usesIn(text).map((use) => {
    const at = line === undefined ? place : `${place}:${line + use.line - 1}`;
    return `${at}: ${use.advice}: ${text.split('\n')[use.line - 1]?.trim().slice(0, 160)}`;
  });

// Threats and beliefs quote the names of tests.
const pagesInPlainEnglish = [
  'README.md',
  'constructs/**/*.md',
  'reconciler/{README,GLOSSARY,HOW-TO}.md',
  'reconciler/*/**/*.md',
];

const sources = ['constructs', 'reconciler'];

/** The avoided words in some parts of all sources below a folder. */
async function problemsIn(
  folder: string,
  select: (parts: ReturnType<typeof partsOf>, file: string) => Part[],
  usesIn?: typeof avoidedIn,
): Promise<string[]> {
  const files = filesOf(`${folder}/**/*.ts`);
  expect(files.length).toBeGreaterThan(100);
  const found = await Promise.all(
    files.map(async (file) =>
      select(partsOf(await read(file)), file).flatMap(({ line, text }) => problemsOf(file, text, line, usesIn)),
    ),
  );
  return found.flat();
}

describe('a text that a user sees has no avoided word', () => {
  it('in the descriptions and rules of the CRDs in dist', async () => {
    const documents = parseAllDocuments(await read('dist/control-plane-components.yaml'));
    const texts = documents.flatMap((document) =>
      textsBelow(document.toJS(), ['description', 'message', 'messageExpression']),
    );
    expect(texts.length).toBeGreaterThan(400);
    expect(texts.flatMap(({ path, text }) => problemsOf(path, text))).toEqual([]);
  });

  it('in the comments of dist', async () => {
    const files = filesOf('dist/**/*.yaml');
    expect(files.length).toBeGreaterThan(10);
    const found = await Promise.all(
      files.map(async (file) => (await read(file)).match(/^# .*$/gm)?.flatMap((line) => problemsOf(file, line)) ?? []),
    );
    expect(found.flat()).toEqual([]);
  });

  it('in the meanings of conditions, which become events', () => {
    const found = Object.entries(conditions).flatMap(([type, { meaning }]) => problemsOf(type, meaning));
    expect(found).toEqual([]);
  });

  it.each([hcp, hcpImport])('in the help of $name', async (program) => {
    const helps = [helpOfAll(program), ...(await allCommands(program)).map((command) => helpOf(program, command))];
    expect(helps.flatMap((help) => problemsOf('help', help))).toEqual([]);
  });

  // Only literals with a space can be sentences: all others are names, paths and discriminants.
  it.each(sources)('in the string literals of %s', async (folder) => {
    const found = await problemsIn(folder, ({ literals }, file) =>
      literals
        .filter(({ text }) => text.trim().includes(' '))
        .filter(({ text }) => !allowed.some((one) => one.file === file && text.includes(one.text))),
    );
    expect(found).toEqual([]);
  });

  it('in the pages', async () => {
    const files = filesOf(...pagesInPlainEnglish);
    expect(files).toContain('constructs/provider/OPERATE.md');
    const found = await Promise.all(files.map(async (file) => problemsOf(file, await read(file), 1)));
    expect(found.flat()).toEqual([]);
  });
});

describe('what a developer reads has no avoided word', () => {
  it('in all pages', async () => {
    const files = filesOf('**/*.md', '.ci/**/*.md');
    expect(files).toContain('README.md');
    const found = await Promise.all(files.map(async (file) => problemsOf(file, await read(file), 1, avoidedIn)));
    expect(found.flat()).toEqual([]);
  });

  it.each(sources)('in the names of %s, and of its files', async (folder) => {
    const found = await problemsIn(
      folder,
      ({ code }, file) => [
        { line: 1, text: namesIn(file) },
        ...code.map(({ line, text }) => ({ line, text: namesIn(text) })),
      ],
      avoidedIn,
    );
    expect(found).toEqual([]);
  });

  it.each(sources)('in the comments of %s', async (folder) => {
    expect(await problemsIn(folder, ({ comments }) => comments, avoidedIn)).toEqual([]);
  });
});

it('allows no literal that is not there any more', async () => {
  const present = await Promise.all(
    allowed.map(async ({ file, text }) => partsOf(await read(file)).literals.some((one) => one.text.includes(text))),
  );
  expect(present.every(Boolean)).toBe(true);
});

describe('an avoided word', () => {
  it.each([
    ['nobody answers', ['"nobody": name the actor']],
    ['Nobody\nanswers', ['"nobody": name the actor']],
    ['the authority is gone', ['"authority": CA']],
    ['set kubelet-certificate-authority', []],
    ['the certificate authority', []],
    ['it still stalls', []],
    ['the extension authority key identifier', []],
    ['authority keys', ['"authority": CA']],
    ['two ways  in', ['"ways in": exposure strategy']],
  ])('is found as a whole word in %j', (text, found) => {
    expect(avoidedIn(text).map(({ advice }) => advice)).toEqual(found);
  });

  it('is found on every line, with its number', () => {
    expect(avoidedIn('nobody\n\nis in the way\nin, nobody').map(({ line }) => line)).toEqual([1, 4, 3]);
  });

  it.each([
    ['its name is that\nof the Cluster', ['"that of": repeat the noun']],
    ['Who has read it can use it.', ['"who": anyone who, or name the actor']],
    ['| a file | who applies it |', ['"who": anyone who, or name the actor']],
    ['RBAC decides\nwho reads it, and users who may not', []],
    ['| who | may |', []],
    ['Done. Who may read it?', []],
  ])('is found in a text for users in %j', (text, found) => {
    expect(avoidedForUsersIn(text).map(({ advice }) => advice)).toEqual(found);
    expect(avoidedIn(text)).toEqual([]);
  });

  it.each([
    ['lookIntoStore', ['"look into": observe, check, manage']],
    ['ServerIsAway', ['"is away": is unreachable']],
    ['CAIsTrusted', []],
    ['way-in.test.ts', ['"way in": exposure strategy']],
    ['certificateAuthorityData', []],
  ])('is found in the name %s', (name, found) => {
    expect(avoidedIn(wordsOf(name)).map(({ advice }) => advice)).toEqual(found);
  });

  it('is listed once', () => {
    const forms = [...avoidedWords, ...avoidedPhrases].flatMap(({ forms }) => forms);
    expect(forms.filter((form, index) => forms.indexOf(form) !== index)).toEqual([]);
  });
});
