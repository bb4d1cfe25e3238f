import { join } from 'node:path';
import { z } from 'zod';
import { goDirectory } from './families.ts';
import { run } from './run.ts';

/** The directory with the files of a module as the family pins it, downloaded if Go does not have it yet. */
export async function moduleDirectory(familyName: string, module: string): Promise<string> {
  const download = ['go', 'mod', 'download', '-json', module] as const;
  const answer: unknown = JSON.parse(await run(download, { cwd: join(goDirectory, familyName) }));
  return z.object({ Dir: z.string() }).parse(answer).Dir;
}
