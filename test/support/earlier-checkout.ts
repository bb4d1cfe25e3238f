import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repository } from '../tools/testbed/operator-bundle.ts';
import { run } from '../tools/testbed/run.ts';

const lockFile = 'package-lock.json';

/** The files of an earlier commit, in a directory of their own, with the libraries of that commit. */
export class EarlierCheckout {
  readonly directory: string;

  private constructor(directory: string) {
    this.directory = directory;
  }

  /** @throws when the repository is without the commit, as a clone of depth 1 is */
  static async of(commit: string): Promise<EarlierCheckout> {
    const checkout = new EarlierCheckout(await mkdtemp(join(tmpdir(), 'earlier-')));
    try {
      await checkout.#fill(commit);
      return checkout;
    } catch (error) {
      await checkout.remove();
      throw error;
    }
  }

  async remove(): Promise<void> {
    await rm(this.directory, { recursive: true, force: true });
  }

  async #fill(commit: string): Promise<void> {
    const { directory } = this;
    const archive = join(directory, 'sources.tar');
    await run(['git', 'archive', '--output', archive, commit], { cwd: repository });
    await run(['tar', '--extract', '--file', archive, '--directory', directory]);
    await rm(archive);
    const locked = (root: string) => readFile(join(root, lockFile), 'utf8');
    if ((await locked(directory)) === (await locked(repository)))
      await symlink(join(repository, 'node_modules'), join(directory, 'node_modules'));
    else await run(['npm', 'ci'], { cwd: directory });
  }
}
