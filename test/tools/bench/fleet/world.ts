import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { once } from 'node:events';
import type { KeyPair } from '../../../../reconciler/pki/issue.ts';

const node = join(import.meta.dirname, '../../../../node_modules/.bin/node');

/** A cluster whose servers are hostile. */
export interface HostileCluster {
  readonly namespace: string;
  readonly cluster: string;
  /** Its API server is none: it answers with bombs. The administrators of the other ones change objects without end. */
  readonly hasHostileApi: boolean;
  /** How far its etcd seems to work: until its keys are counted, or until it sends its snapshot. Its store then seems to work, too. */
  readonly worksUntil: 'never' | 'keys' | 'snapshot';
}

/** How many answers hostile servers have given. */
export interface HostileAnswers {
  readonly apiServers: number;
  readonly etcds: number;
  readonly stores: number;
  readonly tokenServices: number;
}

/** A line of the standard input of the process. */
export type WorldRequest =
  | { readonly kind: 'start'; readonly kubeconfig: string; readonly snapshot: string }
  /** Count the calls to etcds so far. */
  | { readonly kind: 'count' }
  /** Change a hundred objects a second in each of these hosted clusters. */
  | { readonly kind: 'harass'; readonly clusters: readonly Pick<HostileCluster, 'namespace' | 'cluster'>[] }
  | { readonly kind: 'leaveInPeace' }
  /** Let hostile stores and token services listen, with this certificate. */
  | { readonly kind: 'serve'; readonly pair: KeyPair; readonly patientStores: readonly string[] }
  /** Let the servers of these clusters answer with bombs. */
  | { readonly kind: 'poison'; readonly clusters: readonly HostileCluster[] }
  /** Let them all be good again. */
  | { readonly kind: 'heal' };

/** The simulated part of a fleet, in a process of its own. */
export class World {
  readonly #child: ChildProcess;
  readonly #answers: Interface;

  private constructor(child: ChildProcess, answers: Interface) {
    this.#child = child;
    this.#answers = answers;
  }

  /** @param core the processor that it may use @param snapshot path of the snapshot that members of etcd send */
  static async start(kubeconfig: string, snapshot: string, core: number): Promise<World> {
    const program = [node, join(import.meta.dirname, 'world-process.ts')];
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', 'taskset', '--cpu-list', String(core), ...program], {
      stdio: ['pipe', 'pipe', 'inherit'],
      // a thousand API servers in one process
      env: { ...process.env, NODE_OPTIONS: '--max-old-space-size=6000' },
    });
    if (!child.stdout) throw new Error('the simulated world has no output');
    const world = new World(child, createInterface(child.stdout));
    await world.#ask({ kind: 'start', kubeconfig, snapshot });
    return world;
  }

  /** Lets the users of these clusters change a hundred objects a second in each. */
  async harass(numbers: readonly number[]): Promise<void> {
    const clusters = numbers.map((number) => ({ namespace: `fleet-${number}`, cluster: `c${number}` }));
    await this.#ask({ kind: 'harass', clusters });
  }

  /** Ends that; returns how many objects they have changed. */
  async leaveInPeace(): Promise<number> {
    return Number(await this.#ask({ kind: 'leaveInPeace' }));
  }

  /** Lets hostile stores and token services listen at all addresses of 10.0.0.0/8. @param pair their certificate */
  async serveHostileStores(pair: KeyPair, patientStores: readonly string[]): Promise<void> {
    await this.#ask({ kind: 'serve', pair, patientStores });
  }

  /** Lets the API servers and etcds of clusters answer with bombs. */
  async poison(clusters: readonly HostileCluster[]): Promise<void> {
    await this.#ask({ kind: 'poison', clusters });
  }

  /** Ends that; returns how many answers they have given. */
  async heal(): Promise<HostileAnswers> {
    return JSON.parse(await this.#ask({ kind: 'heal' })) as HostileAnswers;
  }

  /** Calls to etcds, those for their versions included. */
  async etcdCalls(): Promise<number> {
    return Number(await this.#ask({ kind: 'count' }));
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
