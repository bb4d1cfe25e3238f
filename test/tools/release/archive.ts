import { mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { run } from '../testbed/run.ts';

/** A file by its path below a folder. */
export interface ArchivedFile {
  readonly path: string;
  readonly content: string;
}

/** Writes files below a folder, which may be new. */
export async function writeFiles(folder: string, files: readonly ArchivedFile[]): Promise<void> {
  for (const { path, content } of files) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
}

/** A compressed archive of one folder with these files, which has the same bytes at any time and for any user. */
export async function writeArchive(path: string, folder: string, files: readonly ArchivedFile[]): Promise<void> {
  await writeFiles(folder, files);
  const same = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '--mode=go=rX,u+rw,a-s'];
  const compressor = '--use-compress-program=gzip --no-name';
  await run(['tar', '--create', ...same, compressor, '--file', path, '--directory', dirname(folder), basename(folder)]);
  await rm(folder, { recursive: true });
}
