import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { aptGet } from './host-packages.ts';
import { step, type Report } from './progress.ts';
import { run } from './run.ts';

/**
 * A directory below `directory` with the files of a Debian package that must not be installed on the host, and of its missing
 * dependencies: installing a server would start it. It is kept for the next time.
 */
export async function unpackedPackage(name: string, directory: string, report: Report): Promise<string> {
  const root = join(directory, name);
  const present = await readdir(directory).catch((): string[] => []);
  if (present.includes(name)) return root;
  await step(report, `unpacked Debian package ${name}`, async () => {
    const partial = `${root}.partial`;
    const archives = `${root}.archives`;
    await rm(partial, { recursive: true, force: true });
    await mkdir(join(archives, 'partial'), { recursive: true });
    await aptGet('install', '--download-only', '--option', `Dir::Cache::archives=${archives}`, name);
    const packages = (await readdir(archives)).filter((file) => file.endsWith('.deb'));
    for (const file of packages) await run(['dpkg', '--extract', join(archives, file), partial]);
    await rm(archives, { recursive: true });
    await rename(partial, root);
  });
  return root;
}
