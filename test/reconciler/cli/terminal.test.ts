import { describe, expect, it } from 'vitest';
import { helpOfAll } from '../../../reconciler/cli/help.ts';
import { hcp } from '../../../reconciler/cli/commands.ts';
import { repository } from '../../support/pages.ts';
import { run } from '../../tools/testbed/run.ts';

/** A pipe that says what a terminal says. Node decides by the environment how many colours it has. */
const asTerminal = `
const { WriteStream } = await import('node:tty');
const { getColorDepth } = WriteStream.prototype;
Object.assign(process.stdout, { isTTY: true, columns: 60, getColorDepth });
`;

/** What another process sees, which has this environment only. */
async function seen(env: Readonly<Record<string, string>>, before = ''): Promise<unknown> {
  const script = `${before}
    const { processTerminal: { width, paint, print } } = await import('./reconciler/cli/terminal.ts');
    print(JSON.stringify({ width, painted: paint('fails', 'no') }));`;
  const options = { cwd: repository, env };
  return JSON.parse(await run([process.execPath, '--input-type=module', '--eval', script], options)) as unknown;
}

const [red, plain] = ['\u001B[31mno\u001B[39m', 'no'];

describe('standard output that is no terminal', () => {
  it('has neither a width nor colours', async () => {
    expect(await seen({ TERM: 'xterm-256color' })).toEqual({ painted: plain });
  });

  it('has colours where FORCE_COLOR asks for them, and is not wrapped nevertheless', async () => {
    expect(await seen({ FORCE_COLOR: '1' })).toEqual({ painted: red });
  });
});

describe('a terminal', () => {
  it.each([
    ['has colours', { TERM: 'xterm-256color' }, red],
    ['has none with NO_COLOR', { TERM: 'xterm-256color', NO_COLOR: '1' }, plain],
    ['has none with NODE_DISABLE_COLORS', { TERM: 'xterm-256color', NODE_DISABLE_COLORS: '1' }, plain],
    ['has none with FORCE_COLOR=0', { TERM: 'xterm-256color', FORCE_COLOR: '0' }, plain],
    ['has none with TERM=dumb', { TERM: 'dumb' }, plain],
  ])('%s', async (_, env, painted) => {
    expect(await seen(env, asTerminal)).toEqual({ width: 60, painted });
  });

  it('that does not know how wide it is has no width', async () => {
    const unknown = asTerminal.replace('columns: 60', 'columns: 0');
    expect(await seen({ TERM: 'dumb' }, unknown)).toEqual({ painted: plain });
  });
});

it.each([
  ['reconciler/cli/main.ts', 'help'],
  ['reconciler/cli/main.ts', 'completion', 'bash'],
  ['reconciler/import/main.ts', 'help'],
])('%s %s ends quietly when its reader has ended, as before head', async (...args) => {
  // The reader has ended for sure before the program begins.
  const script = `exec 3> >(:); wait $!; '${process.execPath}' ${args.join(' ')} 2>&1 >&3; echo "code $?"`;
  expect(await run(['bash', '-c', script], { cwd: repository })).toBe('code 0\n');
});

it('help has no colours, wherever it is printed', () => {
  expect(helpOfAll(hcp)).not.toContain('\u001B');
});
