import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFurtherBinaries } from './binaries.ts';
import { helm as family } from './families.ts';
import { type Instance, kubeconfigPath } from './instance.ts';
import type { Report } from './progress.ts';
import { run } from './run.ts';

/** The real Helm with a management cluster, and with a home of its own. */
export class Helm {
  readonly #program: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #home: string;

  private constructor(instance: Instance, program: string, home: string) {
    this.#program = program;
    this.#home = home;
    this.#env = { ...process.env, HOME: home, KUBECONFIG: kubeconfigPath(instance) };
  }

  /** Compiles it if it is not cached. */
  static async open(instance: Instance, report: Report): Promise<Helm> {
    const { helm = '' } = await findFurtherBinaries([family], instance.cache, report);
    return new Helm(instance, helm, await mkdtemp(join(tmpdir(), 'helm-')));
  }

  /** Returns its standard output. @param input what `--values -` reads @throws with its message when it refuses */
  run(args: readonly string[], input?: string): Promise<string> {
    return run([this.#program, ...args], { env: this.#env, input });
  }

  async close(): Promise<void> {
    await rm(this.#home, { recursive: true, force: true });
  }
}
