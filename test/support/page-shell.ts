import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { binDirectory, type Instance, kubeconfigPath } from '../tools/testbed/instance.ts';
import { run } from '../tools/testbed/run.ts';
import { likeText } from './like-text.ts';
import { type Block, commandsOf, repository } from './pages.ts';
import { until } from './until.ts';

/** How a reader of a page types, with the programs of a testbed on the path. */
export interface PageShell {
  readonly instance: Instance;
  /** Where files of the page are, and `dist`. */
  readonly directory: string;
  /** Further variables. By default none. */
  readonly variables?: NodeJS.ProcessEnv;
}

/** Runs commands in one shell; returns what they print. @throws at the first one that fails */
export function typeInto({ instance, directory, variables }: PageShell, commands: string): Promise<string> {
  return run(['bash', '-euo', 'pipefail', '-c', commands], {
    cwd: directory,
    env: {
      ...process.env,
      // a page shows what is printed without colours
      FORCE_COLOR: undefined,
      PATH: `${binDirectory(instance)}:${process.env['PATH']}`,
      KUBECONFIG: kubeconfigPath(instance),
      CLUSTERCTL_DISABLE_VERSIONCHECK: 'true',
      ...variables,
    },
  });
}

/** What a reader types at once, and what the page shows of its output. */
export interface PageStep {
  readonly place: string;
  readonly commands: string;
  /** As for `likeText`; anything where the page shows none. */
  readonly shown: string;
  /** Whether all commands only read, so that a reader types them again until the cluster is as the page says. */
  readonly onlyReads: boolean;
}

/** The blocks of shell among some blocks of a page, each with the output after it. */
export function stepsOf(blocks: readonly Block[]): PageStep[] {
  return blocks.flatMap(({ language, content, place }, index) => {
    if (language !== 'sh') return [];
    const next = blocks[index + 1];
    const onlyReads = commandsOf(content).every(isRead) && !content.includes('>');
    return [{ place, commands: content, shown: next?.language === 'text' ? next.content : '…', onlyReads }];
  });
}

/**
 * Types a step as a reader does, and returns what it prints. What only reads is typed again until it is as the page shows.
 * @throws at the first command that fails, or after two minutes
 */
export async function typeStep(shell: PageShell, { place, commands, shown, onlyReads }: PageStep): Promise<string> {
  if (!onlyReads) return typeInto(shell, commands);
  let seen = '';
  const isShown = async (): Promise<boolean> => {
    seen = await typeInto(shell, commands).catch(String);
    return likeText(shown).test(seen);
  };
  await until(`what ${place} shows`, isShown, 120_000, () => seen);
  return seen;
}

function isRead([program = '', ...words]: readonly string[]): boolean {
  if (program === 'hcp') return ['list', 'status', 'backups'].includes(words[0] ?? '');
  return program === 'kubectl' && words.some((word) => word === 'get' || word === 'exec');
}

/** Gives a directory what a checkout has, so that the files that a reader writes are not in this one. */
export async function likeCheckout(directory: string): Promise<void> {
  const names = [
    '.npmrc',
    'build',
    'constructs',
    'dist',
    'imports',
    'node_modules',
    'package.json',
    'reconciler',
    'test',
  ];
  for (const name of names) await symlink(join(repository, name), join(directory, name));
}
