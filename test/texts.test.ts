import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { conditions } from '../constructs/api/conditions.ts';
import { hcp } from '../reconciler/cli/commands.ts';
import { helpOf, helpOfAll } from '../reconciler/cli/help.ts';
import { hcpImport } from '../reconciler/import/commands.ts';
import { avoidedIn, avoidedWords } from './support/words.ts';

const root = join(import.meta.dirname, '..');

const filesOf = (...patterns: string[]): string[] =>
  globSync(patterns, { cwd: root, exclude: (name) => ['node_modules', 'build', '.git'].includes(name) })
    .map((file) => file.replaceAll('\\', '/'))
    .toSorted();

const read = (file: string): Promise<string> => readFile(join(root, file), 'utf8');

/** Literals that are not texts for users although they contain an avoided word, by file, with the reason. */
const allowed: readonly { readonly file: string; readonly text: string; readonly why: string }[] = [];

/** The string and template literals of a source, each with the line on which it starts. Comments are none. */
function literalsOf(source: string): { line: number; text: string }[] {
  const tokens = /\/\/.*|\/\*[^]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;
  return [...source.matchAll(tokens)]
    .filter(([token]) => !token.startsWith('/'))
    .map(({ 0: token, index }) => ({
      line: source.slice(0, index).split('\n').length,
      text: token.slice(1, -1).replaceAll(/\$\{[^}]*(?:\}|$)/g, '…'),
    }));
}

/** Every text below a key with one of these names. */
function textsBelow(value: unknown, keys: readonly string[], path = ''): { path: string; text: string }[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [
    ...(typeof member === 'string' && keys.includes(key) ? [{ path: `${path}.${key}`, text: member }] : []),
    ...textsBelow(member, keys, `${path}.${key}`),
  ]);
}

/** @param line line of the place on which the text starts; without it the place has no lines */
const problemsOf = (place: string, text: string, line?: number): string[] =>
  avoidedIn(text).map((use) => {
    const at = line === undefined ? place : `${place}:${line + use.line - 1}`;
    return `${at}: ${use.advice}: ${text.split('\n')[use.line - 1]?.trim().slice(0, 160)}`;
  });

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

  it.each([hcp, hcpImport])('in the help of $name', (program) => {
    const helps = [helpOfAll(program), ...program.commands.map((command) => helpOf(program, command))];
    expect(helps.flatMap((help) => problemsOf('help', help))).toEqual([]);
  });

  // Only literals with a space can be sentences: all others are names, paths and discriminants.
  it.each(['constructs', 'reconciler'])('in the string literals of %s', async (folder) => {
    const files = filesOf(`${folder}/**/*.ts`);
    expect(files.length).toBeGreaterThan(100);
    const found = await Promise.all(
      files.map(async (file) =>
        literalsOf(await read(file))
          .filter(({ text }) => text.trim().includes(' '))
          .filter(({ text }) => !allowed.some((one) => one.file === file && text.includes(one.text)))
          .flatMap(({ line, text }) => problemsOf(file, text, line)),
      ),
    );
    expect(found.flat()).toEqual([]);
  });

  it('in the pages', async () => {
    const files = filesOf('**/*.md', '.ci/**/*.md');
    expect(files).toContain('README.md');
    const found = await Promise.all(files.map(async (file) => problemsOf(file, await read(file), 1)));
    expect(found.flat()).toEqual([]);
  });
});

it('allows no literal that is not there any more', async () => {
  const present = await Promise.all(
    allowed.map(async ({ file, text }) => literalsOf(await read(file)).some((one) => one.text.includes(text))),
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
    ['two ways  in', ['"ways in": exposure strategy']],
  ])('is found as a whole word in %j', (text, found) => {
    expect(avoidedIn(text).map(({ advice }) => advice)).toEqual(found);
  });

  it('is found on every line, with its number', () => {
    expect(avoidedIn('nobody\n\nis in the way\nin, nobody').map(({ line }) => line)).toEqual([1, 4, 3]);
  });

  it('is listed once', () => {
    const forms = avoidedWords.flatMap(({ forms }) => forms);
    expect(forms.filter((form, index) => forms.indexOf(form) !== index)).toEqual([]);
  });
});
