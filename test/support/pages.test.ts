import { describe, expect, it } from 'vitest';
import { unknownFields } from './documented-objects.ts';
import { anchorsOf, commandsOf, filesNamedIn, isInRepository, linksOf, partsOf, treeOf } from './pages.ts';

const page = [
  '# A page: `one` & two',
  'See [this](a.md#b) and `[not](that.md)`.',
  '<!-- excerpt -->',
  '```yaml',
  'etcd: {} # [no](link.md)',
  '```',
  '<!-- proof: a.ts b.ts -->',
  '```sh',
  'npm ci',
  '```',
  '',
  '```text',
  'plain',
  '```',
  '# A page: `one` & two',
].join('\n');

describe('a page', () => {
  const parts = partsOf('a.md', page);

  it('has blocks with what the line before says of them', () => {
    expect(parts.blocks).toEqual([
      { place: 'a.md:4', language: 'yaml', content: 'etcd: {} # [no](link.md)', marker: { kind: 'excerpt' } },
      { place: 'a.md:8', language: 'sh', content: 'npm ci', marker: { kind: 'proof', files: ['a.ts', 'b.ts'] } },
      { place: 'a.md:12', language: 'text', content: 'plain', marker: undefined },
    ]);
  });

  it('has links and headings outside of its blocks and of code', () => {
    expect(linksOf(parts)).toEqual(['a.md#b']);
    expect(anchorsOf(parts)).toEqual(['a-page-one--two', 'a-page-one--two-1']);
  });

  it('is refused when a block never ends', () => {
    expect(() => partsOf('a.md', '```sh\nls')).toThrow('a.md:1: the block never ends');
  });
});

describe('names of files', () => {
  it('are inline code that begins with a directory of the repository', () => {
    const prose = 'see `test/tools/docs`, `reconciler/etcd/{loop,members}.ts`, `npm test/x`, test/none and `a/b`';
    expect(filesNamedIn({ prose })).toEqual(['test/tools/docs', 'reconciler/etcd/{loop,members}.ts']);
  });

  it.each([
    ['test/tools/docs/', true],
    ['test/tools/docs/pages', true],
    ['reconciler/etcd/{loop,members}.ts', true],
    ['reconciler/etcd/{loop,nothing}.ts', false],
    ['dist/samples/*.hosted.k8s.yaml', true],
    ['reconciler/nothing', false],
  ])('%s: %s', (name, exists) => expect(isInRepository(name)).toBe(exists));
});

it('a tree names paths by their indentation', () => {
  const tree = ['a/        first', '  b/      second', '    c.ts', '      not a name', '  d.ts    third', 'e/'].join(
    '\n',
  );
  expect(treeOf(tree)).toEqual(['a/', 'a/b/', 'a/b/c.ts', 'a/d.ts', 'e/']);
});

it.each<[string, string[][]]>([
  [
    'npm ci && npm test # both',
    [
      ['npm', 'ci'],
      ['npm', 'test'],
    ],
  ],
  ['A=1 hcp backups c1 -o json | head > out', [['hcp', 'backups', 'c1', '-o', 'json'], ['head']]],
  ["# nothing\nkubectl get \\\n  'a b'", [['kubectl', 'get', 'a b']]],
])('the commands of %j', (content, commands) => expect(commandsOf(content)).toEqual(commands));

it('finds the fields that a schema does not have', () => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'array', items: { type: 'object', properties: { b: { type: 'string' } } } } },
  } as const;
  const copy = structuredClone(schema) as unknown as Parameters<typeof unknownFields>[0];
  expect(unknownFields(copy, { a: [{ b: '' }, { c: 1 }], d: 2 })).toEqual(['.a[1].c', '.d']);
});
