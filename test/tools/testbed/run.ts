import { spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

/** How a command is run; its environment is that of this process unless `env` replaces it. */
export interface RunOptions {
  /** Text for its standard input. Default: none. */
  readonly input?: string | undefined;
  /** A file for its standard input, instead of text. */
  readonly inputFile?: string | undefined;
  readonly cwd?: string | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Sees each line of its standard error as it comes. One that it takes is no part of an error. */
  readonly takesLine?: ((line: string) => boolean) | undefined;
}

/** A command that could not be started, or ended with a code other than 0. */
export class CommandError extends Error {
  readonly stderr: string;
  constructor(command: readonly string[], ending: string, stderr: string) {
    super(
      `${command.slice(0, 6).join(' ')}${command.length > 6 ? ' ...' : ''}: ${ending}\n${lastLines(stderr, 15)}`.trim(),
    );
    this.name = 'CommandError';
    this.stderr = stderr;
  }
}

/** The end of a log, for an error message. */
export function lastLines(text: string, count: number): string {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}

/** Runs a command to its end and returns its standard output. Throws {@link CommandError} with the end of its standard error. */
export async function run(command: readonly [string, ...string[]], options: RunOptions = {}): Promise<string> {
  const [file, ...args] = command;
  const child = spawn(file, args, { cwd: options.cwd, env: options.env, stdio: ['pipe', 'pipe', 'pipe'] });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  const { takesLine } = options;
  if (takesLine) {
    const lines = createInterface({ input: child.stderr });
    lines.on('line', (line) => void (takesLine(line) || stderr.push(Buffer.from(`${line}\n`))));
  } else {
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  }
  // a command that ends without reading its input must not end this process by EPIPE
  child.stdin.on('error', () => {});
  if (options.inputFile) createReadStream(options.inputFile).pipe(child.stdin);
  else child.stdin.end(options.input ?? '');
  const ending = await new Promise<string | undefined>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) =>
      resolve(code === 0 ? undefined : signal ? `ended by ${signal}` : `exit code ${code}`),
    );
  });
  if (ending !== undefined) throw new CommandError(command, ending, Buffer.concat(stderr).toString());
  return Buffer.concat(stdout).toString();
}

/** Runs a command whose failure is a normal result, such as the deletion of something that may be absent. */
export async function attempt(command: readonly [string, ...string[]], options: RunOptions = {}): Promise<boolean> {
  try {
    await run(command, options);
    return true;
  } catch (error) {
    if (error instanceof CommandError) return false;
    throw error;
  }
}
