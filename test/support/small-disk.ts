import { execFile } from 'node:child_process';
import { mkdtemp, rm, statfs, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** An in-memory file system that can be filled and emptied. */
export class SmallDisk {
  readonly directory: string;
  readonly #ballast: string;

  private constructor(directory: string) {
    this.directory = directory;
    this.#ballast = join(directory, 'ballast');
  }

  static async mount(mebibytes: number): Promise<SmallDisk> {
    const directory = await mkdtemp(join(tmpdir(), 'disk-'));
    await run('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', directory]);
    return new SmallDisk(directory);
  }

  /** Fills the remaining space except for some KiB. */
  async fill(leftKibibytes: number): Promise<void> {
    const { bavail, bsize } = await statfs(this.directory);
    await writeFile(this.#ballast, Buffer.alloc(Math.max(0, bavail * bsize - leftKibibytes * 1024)));
  }

  /** Frees the space. */
  async empty(): Promise<void> {
    await truncate(this.#ballast, 0);
  }

  async unmount(): Promise<void> {
    await run('umount', ['--lazy', this.directory]);
    await rm(this.directory, { recursive: true, force: true });
  }
}
