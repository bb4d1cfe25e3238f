import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { once } from 'node:events';

const node = join(import.meta.dirname, '../../../node_modules/.bin/node');

/** A line of the standard input of the process. */
export type WorldRequest =
  | { readonly kind: 'start'; readonly kubeconfig: string }
  /** Change a hundred objects a second in the hosted cluster of this number. */
  | { readonly kind: 'harass'; readonly namespace: string; readonly cluster: string }
  | { readonly kind: 'leaveInPeace' }
  /** Let the API servers of these namespaces answer with bombs. */
  | { readonly kind: 'poison'; readonly namespaces: readonly string[] }
  | { readonly kind: 'heal' };

/** The simulated part of a fleet, in a process of its own. */
export class World {
  readonly #child: ChildProcess;
  readonly #answers: Interface;

  private constructor(child: ChildProcess, answers: Interface) {
    this.#child = child;
    this.#answers = answers;
  }

  /** @param core the processor that it may use */
  static async start(kubeconfig: string, core: number): Promise<World> {
    const program = [node, join(import.meta.dirname, 'world-process.ts')];
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', 'taskset', '--cpu-list', String(core), ...program], {
      stdio: ['pipe', 'pipe', 'inherit'],
      // a thousand API servers in one process
      env: { ...process.env, NODE_OPTIONS: '--max-old-space-size=6000' },
    });
    if (!child.stdout) throw new Error('the simulated world has no output');
    const world = new World(child, createInterface(child.stdout));
    await world.#ask({ kind: 'start', kubeconfig });
    return world;
  }

  /** Lets the users of one cluster change a hundred objects a second. */
  async harass(number: number): Promise<void> {
    await this.#ask({ kind: 'harass', namespace: `fleet-${number}`, cluster: `c${number}` });
  }

  /** Ends that; returns how many objects they have changed. */
  async leaveInPeace(): Promise<number> {
    return Number(await this.#ask({ kind: 'leaveInPeace' }));
  }

  /** Lets the API servers of these clusters answer with bombs. */
  async poison(numbers: readonly number[]): Promise<void> {
    await this.#ask({ kind: 'poison', namespaces: numbers.map((number) => `fleet-${number}`) });
  }

  /** Ends that; returns how many answers they have given. */
  async heal(): Promise<number> {
    return Number(await this.#ask({ kind: 'heal' }));
  }

  stop(): void {
    this.#child.kill('SIGKILL');
  }

  async #ask(request: WorldRequest): Promise<string> {
    this.#child.stdin?.write(`${JSON.stringify(request)}\n`);
    const ended = once(this.#child, 'exit').then(() => {
      throw new Error('the simulated world has ended');
    });
    const [line] = (await Promise.race([once(this.#answers, 'line'), ended])) as [string];
    return line;
  }
}
