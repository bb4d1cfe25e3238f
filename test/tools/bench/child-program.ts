import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { mallocSettings, nodeOptions } from '../../../constructs/provider/operator.ts';

/** The Node that everything is tested with. */
export const node = join(import.meta.dirname, '../../../node_modules/.bin/node');

/**
 * Runs a program of this folder in a separate process, configured as the operator's, and passes it its input.
 * @param command starts a program whose path follows; by default Node alone
 */
export function start(program: string, input: unknown, command: readonly string[] = [node]): ChildProcess {
  const [file, ...args] = [...command, join(import.meta.dirname, program)];
  const child = spawn(file, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...mallocSettings, NODE_OPTIONS: nodeOptions },
  });
  child.stdin?.end(JSON.stringify(input));
  return child;
}

/** Runs one to its end and reads its answer. @throws when it fails */
export async function answerOf<Answer>(program: string, input: unknown, command?: readonly string[]): Promise<Answer> {
  const child = start(program, input, command);
  const ended = ending(child);
  const answer = child.stdout ? await text(child.stdout) : '';
  await ended;
  return JSON.parse(answer) as Answer;
}

/** Resolves when a process exits with 0. */
export async function ending(child: ChildProcess): Promise<void> {
  const code = child.exitCode ?? (await new Promise((resolve) => child.once('exit', resolve)));
  if (code !== 0) throw new Error(`${child.spawnargs.join(' ')} ended with ${String(code)}`);
}
