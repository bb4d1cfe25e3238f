// `npm run test:durations [-- FROM TO]`: keeps the durations of the files that the last run has measured, beside those of others, and what it cost
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { keptDurations } from './file-times.ts';
import { testFiles } from './files.ts';
import { costFile, measuredFile } from './output.ts';
import { type RunCost, withRun } from './runs.ts';

const committed = join(import.meta.dirname, 'durations.json');
const [from = measuredFile, to = committed] = process.argv.slice(2);
const read = async (path: string) => JSON.parse(await readFile(path, 'utf8'));
const kept = keptDurations(await read(committed), await read(from), testFiles());
await writeFile(to, `${JSON.stringify(kept, undefined, 2)}\n`);

if (to === committed) {
  const runs = join(import.meta.dirname, 'runs.json');
  const all = withRun((await read(runs)) as RunCost[], (await read(costFile)) as RunCost);
  await writeFile(runs, `${JSON.stringify(all, undefined, 2)}\n`);
}
