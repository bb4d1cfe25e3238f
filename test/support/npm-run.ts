import { type ChildProcess, spawn } from 'node:child_process';
import { repository } from '../tools/testbed/operator-bundle.ts';

/** How a script of package.json ended. */
export interface ScriptResult {
  readonly code: number | null;
  /** Its output on both streams, in order. */
  readonly output: string;
}

/** A script of package.json that runs in its own process group. */
export interface RunningScript {
  readonly ended: Promise<ScriptResult>;
  /** Its output so far. */
  output(): string;
  /** Sends a signal to all its processes, as a terminal does. */
  signal(signal: NodeJS.Signals): void;
}

/** Starts `npm run SCRIPT -- ARGS` as a person does. */
export function startScript(script: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): RunningScript {
  const child = spawn('npm', ['run', '--silent', script, '--', ...args], {
    cwd: repository,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = exitOf(child).then((code) => ({ code, output }));
  return {
    ended,
    output: () => output,
    signal: (signal) => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, signal);
    },
  };
}

/** Runs a script to its end. */
export function npmRun(
  script: string,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<ScriptResult> {
  return startScript(script, args, env).ended;
}

/** Runs a script to its end and returns its output. @throws with the output when the script fails */
export async function runScript(
  script: string,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<string> {
  const { code, output } = await npmRun(script, args, env);
  if (code !== 0) throw new Error(`npm run ${script} ended with ${String(code)}:\n${output}`);
  return output;
}

function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
}
