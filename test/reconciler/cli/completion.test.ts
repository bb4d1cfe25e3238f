import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseCommandLine } from '../../../reconciler/cli/command-line.ts';
import { hcp } from '../../../reconciler/cli/commands.ts';
import type { Program } from '../../../reconciler/cli/command.ts';
import { plainView } from '../../../reconciler/cli/view.ts';
import { hcpImport } from '../../../reconciler/import/program.ts';
import { run } from '../../tools/testbed/run.ts';

/** What exists, by the line with which the script asks for it. */
const answers = `#!/bin/sh
case "$*" in
  'list -o name') echo prod staging ;;
  'list -o name -n team') echo dev ;;
  'list -o name --context eu --namespace team') echo eu-dev ;;
  'list -A -o name'|'list -A -o name -n team') printf 'team/dev\\nteam/two\\nother/prod\\n' ;;
  'backups dev -o name -n team') echo 2026-11-21T09-15-31.123Z-4711 ;;
esac
`;

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'completion-'));
  await writeFile(join(directory, 'hcp'), answers, { mode: 0o755 });
  await writeFile(join(directory, 'bash'), await scriptFor('bash'));
});
afterAll(() => rm(directory, { recursive: true }));

async function scriptFor(shell: string, program: Program = hcp): Promise<string> {
  const line = await parseCommandLine(['completion', shell], program);
  const printed: string[] = [];
  if (line.kind !== 'offline') throw new Error(`completion needs a management cluster: ${line.kind}`);
  await line.run({
    ...plainView,
    print: (text) => printed.push(text),
    info: () => {},
    confirm: () => Promise.resolve(false),
  });
  return printed.join('\n');
}

/** What bash offers after these words. */
async function offered(...words: readonly string[]): Promise<string[]> {
  const typed = ['hcp', ...words].map((word) => `'${word}'`).join(' ');
  const script = `. ${directory}/bash; COMP_WORDS=(${typed}); COMP_CWORD=${words.length}; _hcp; echo "\${COMPREPLY[@]}"`;
  const env = { ...process.env, PATH: `${directory}:${process.env['PATH']}` };
  return (await run(['bash', '-c', script], { env })).trim().split(' ');
}

describe('in bash', () => {
  it('completes commands, also after options of every command', async () => {
    expect(await offered('ba')).toEqual(['backups', 'backup']);
    expect(await offered('-n', 'team', 'ba')).toEqual(['backups', 'backup']);
    expect(await offered('--cont')).toEqual(['--context']);
    expect(await offered('rep')).toEqual(['report']);
    expect(await offered('help', 'stat')).toEqual(['status']);
  });

  it('completes options of the command, and those of every command', async () => {
    expect(await offered('status', '--w')).toEqual(['--watch']);
    expect(await offered('wake', 'prod', '--ti')).toEqual(['--timeout']);
    expect(await offered('status', 'prod', '--cont')).toEqual(['--context']);
  });

  it('completes clusters that exist, where a cluster is an argument', async () => {
    expect(await offered('status', '')).toEqual(['prod', 'staging']);
    expect(await offered('move', 'abort', '')).toEqual(['prod', 'staging']);
    expect(await offered('render', '')).toEqual(['']);
  });

  it('asks the management cluster and the namespace of the typed line', async () => {
    expect(await offered('status', '-n', 'team', '')).toEqual(['dev']);
    expect(await offered('-n', 'team', 'status', '')).toEqual(['dev']);
    expect(await offered('status', '--context', 'eu', '--namespace', '=', 'team', '')).toEqual(['eu-dev']);
    expect(await offered('status', 'team/t')).toEqual(['team/two']);
  });

  it('completes values: of a fixed set, namespaces and backups', async () => {
    expect(await offered('list', '-o', '')).toEqual(['json', 'yaml', 'wide', 'name']);
    expect(await offered('status', 'prod', '--output', '=', 'y')).toEqual(['yaml']);
    expect(await offered('status', '-n', '')).toEqual(['other', 'team']);
    expect(await offered('move', '')).toEqual(['prepare', 'abort']);
    expect(await offered('completion', 'f')).toEqual(['fish']);
    expect(await offered('restore', 'dev', '-n', 'team', '--backup', '2026')).toEqual([
      '2026-11-21T09-15-31.123Z-4711',
    ]);
  });
});

it('every command has its line in each shell', async () => {
  const [fish, zsh] = [await scriptFor('fish'), await scriptFor('zsh')];
  for (const { name } of hcp.commands) {
    expect(fish).toContain(`-a ${name} -d `);
    expect(zsh).toMatch(new RegExp(`^ {4}${name}\\) `, 'm'));
  }
});

it('a program with a dash in its name has a function of its own', async () => {
  await writeFile(join(directory, 'bash-import'), await scriptFor('bash', hcpImport));
  const script = `. ${directory}/bash-import; COMP_WORDS=(hcp-import de); COMP_CWORD=1; _hcp_import; echo "\${COMPREPLY[@]}"`;
  expect(await run(['bash', '-c', script])).toBe('delete-volumes\n');
});

it('another shell is refused', async () => {
  await expect(parseCommandLine(['completion', 'tcsh'], hcp)).rejects.toThrow(
    'set one shell of bash, zsh, fish, not "tcsh"',
  );
});
