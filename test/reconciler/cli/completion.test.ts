import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseCommandLine } from '../../../reconciler/cli/command-line.ts';
import { commands, hcp } from '../../../reconciler/cli/commands.ts';
import type { Program } from '../../../reconciler/cli/command.ts';
import { plainView } from '../../../reconciler/cli/view.ts';
import { hcpImport } from '../../../reconciler/import/commands.ts';
import { run } from '../../tools/testbed/run.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'completion-'));
  await writeFile(join(directory, 'hcp'), '#!/bin/sh\n[ "$*" = "list -o name" ] && printf "prod\\nstaging\\n"\n', {
    mode: 0o755,
  });
  await writeFile(join(directory, 'bash'), scriptFor('bash'));
});
afterAll(() => rm(directory, { recursive: true }));

function scriptFor(shell: string, program: Program = hcp): string {
  const line = parseCommandLine(['completion', shell], program);
  const printed: string[] = [];
  if (line.kind !== 'offline') throw new Error(`completion needs a management cluster: ${line.kind}`);
  line.run({
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
  it('completes commands', async () => {
    expect(await offered('ba')).toEqual(['backup', 'backups']);
    expect(await offered('help', 'stat')).toEqual(['status']);
  });

  it('completes options of the command, and those of every command', async () => {
    expect(await offered('status', '--w')).toEqual(['--watch']);
    expect(await offered('status', 'prod', '--cont')).toEqual(['--context']);
  });

  it('completes clusters that exist, where a cluster is an argument', async () => {
    expect(await offered('status', '')).toEqual(['prod', 'staging']);
    expect(await offered('render', '')).toEqual(['']);
  });
});

it('every command has its line in each shell', () => {
  for (const { name } of commands) {
    expect(scriptFor('fish')).toContain(`-a ${name} -d `);
    expect(scriptFor('zsh')).toMatch(new RegExp(`^ {4}${name}\\) `, 'm'));
  }
});

it('a program with a dash in its name has a function of its own', async () => {
  await writeFile(join(directory, 'bash-import'), scriptFor('bash', hcpImport));
  const script = `. ${directory}/bash-import; COMP_WORDS=(hcp-import de); COMP_CWORD=1; _hcp_import; echo "\${COMPREPLY[@]}"`;
  expect(await run(['bash', '-c', script])).toBe('delete-volumes\n');
});

it('another shell is refused', () => {
  expect(() => parseCommandLine(['completion', 'tcsh'], hcp)).toThrow('set one shell of bash, zsh, fish, not "tcsh"');
});
