import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import type { Program } from '../../../reconciler/cli/command.ts';
import { parseCommandLine } from '../../../reconciler/cli/command-line.ts';
import { hcp } from '../../../reconciler/cli/commands.ts';
import { hcpImport } from '../../../reconciler/import/program.ts';
import { commandsOf, isReplayedBy, readPages, repository } from '../../support/pages.ts';

const scripts: readonly string[] = Object.keys(manifest.scripts);
const pages = await readPages();
const blocks = pages
  .flatMap(({ path, blocks: all }) => all.map((block) => ({ path, ...block })))
  .filter(({ language }) => language === 'sh');

/** The script of package.json that a command runs, and its arguments; undefined for another command. */
function scriptIn([program, ...words]: readonly string[]): { script: string; args: string[] } | undefined {
  if (program !== 'npm') return undefined;
  const [verb, ...rest] = words.filter((word) => !['-s', '--silent'].includes(word));
  if (verb === 'test') return { script: 'test', args: rest.filter((word) => word !== '--') };
  const [script = '', ...args] = rest;
  return verb === 'run' ? { script, args: args.filter((word) => word !== '--') } : undefined;
}

/** What follows the name of one of our programs; undefined for another command. */
function programIn(command: readonly string[]): { program: Program; args: readonly string[] } | undefined {
  const { script, args } = scriptIn(command) ?? { script: command[0], args: command.slice(1) };
  const program = [hcp, hcpImport].find(({ name }) => name === script);
  return program && { program, args };
}

describe('shell in the pages', () => {
  it('is there', () => expect(blocks.length).toBeGreaterThan(5));

  it.each(pages)('of $path runs no script that package.json does not have', ({ text }) => {
    const named = [...text.matchAll(/npm run (?:-s |--silent )?([a-z:-]+)/g)].map(([, script = '']) => script);
    expect(named.filter((script) => !scripts.includes(script))).toEqual([]);
  });

  const typed = blocks.flatMap(({ place, content }) =>
    commandsOf(content).flatMap((command) => {
      const run = programIn(command);
      return run ? [{ place, ...run, line: `${run.program.name} ${run.args.join(' ')}` }] : [];
    }),
  );
  it.each(typed)('of $place is understood: $line', async ({ program, args }) => {
    await expect(parseCommandLine(args, program)).resolves.toBeDefined();
  });

  const proved = blocks.flatMap(({ path, place, content, marker }) =>
    marker?.kind === 'proof' ? [{ path, place, content, files: marker.files }] : [],
  );
  it.each(proved)('of $place is run by the files it names', async ({ path, content, files }) => {
    const sources = await Promise.all(files.map((file) => readFile(join(repository, file), 'utf8')));
    const proof = sources.join('\n');
    if (isReplayedBy(proof, path)) return;
    for (const command of commandsOf(content)) {
      const run = scriptIn(command);
      const line = command.join(' ');
      // a script as tests run it, anything else as it is written
      const call = run ? new RegExp(`(npmRun|runScript|startScript)\\('${run.script}'`) : /$^/;
      expect(call.test(proof) || proof.includes(line), `${files.join(', ')} to run: ${line}`).toBe(true);
    }
  });
});
