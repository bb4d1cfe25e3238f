import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

export interface ChildProgramOptions {
  /** File that what it says is added to. */
  readonly log: string;
  /** Its environment; that of this process by default. */
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * A program that runs beside tests. It ends with the process that started it, however that ends: a run that is broken off
 * leaves no server behind.
 */
export class ChildProgram {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;

  constructor(file: string, args: readonly string[], { log, env = process.env }: ChildProgramOptions) {
    const output = openSync(log, 'a');
    // Node cannot ask the kernel for a signal at the end of the parent. In a group of its own it is ended together with
    // what it has started.
    const command = ['--pdeathsig', 'KILL', '--', file, ...args];
    this.#child = spawn('setpriv', command, { stdio: ['ignore', output, output], env, detached: true });
    closeSync(output);
    this.#ended = new Promise((resolve) => {
      this.#child.once('exit', () => resolve());
      // it could not be started: there is no end to wait for
      this.#child.once('error', () => resolve());
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isRunning(): boolean {
    return this.#child.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Calls back when it ends by itself, with its exit code. */
  onFailure(handler: (code: number) => void): void {
    this.#child.once('exit', (code) => {
      if (code) handler(code);
    });
  }

  /** Ends it with everything that it has started, as a power cut does unless `signal` is a gentler one; resolves when it is gone. */
  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (this.isRunning && this.#child.pid !== undefined) process.kill(-this.#child.pid, signal);
    await this.#ended;
  }
}
