import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { startGroupWatcher } from './group-watcher.ts';

export interface ChildProgramOptions {
  /** File that its output is appended to. */
  readonly log: string;
  /** Its environment; by default that of this process. */
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * A program that runs beside tests. It and what it starts end with the process that started it, however that ends: an
 * aborted run leaves no server behind.
 */
export class ChildProgram {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;

  constructor(file: string, args: readonly string[], { log, env = process.env }: ChildProgramOptions) {
    const output = openSync(log, 'a');
    // Node cannot request a signal from the kernel for when the parent ends. In its own process group it is killed together
    // with the processes it started.
    const command = ['--pdeathsig', 'KILL', '--', file, ...args];
    const watch = startGroupWatcher();
    this.#child = spawn('setpriv', command, { stdio: ['ignore', output, output], env, detached: true });
    closeSync(output);
    watch(this.#child);
    this.#ended = new Promise((resolve) => {
      this.#child.once('exit', () => resolve());
      // it could not be started, so there is no exit to wait for
      this.#child.once('error', () => resolve());
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isRunning(): boolean {
    return this.#child.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Calls back with the exit code when it exits without {@link end}. */
  onFailure(handler: (code: number) => void): void {
    this.#child.once('exit', (code) => {
      if (code) handler(code);
    });
  }

  /** Takes the processor from it, as from a program of a machine that stalls, until it is resumed. */
  pause(): void {
    this.#child.kill('SIGSTOP');
  }

  resume(): void {
    this.#child.kill('SIGCONT');
  }

  /** Kills it and every process it started, with SIGKILL unless `signal` is a gentler one; resolves when it is gone. */
  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (this.isRunning && this.#child.pid !== undefined) process.kill(-this.#child.pid, signal);
    await this.#ended;
  }
}
