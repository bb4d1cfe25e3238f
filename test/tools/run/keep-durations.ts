/**
 * `npm run test:durations [-- FROM TO]`: keeps the durations of the files that the last run has measured, beside those of others,
 * and what the run cost, which the page of the tests shows.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { keptDurations } from './file-times.ts';
import { testFiles } from './files.ts';
import { costFile, measuredFile } from './output.ts';
import { type RunCost, withRun, withRuns } from './runs.ts';

const committed = join(import.meta.dirname, 'durations.json');
const [from = measuredFile, to = committed] = process.argv.slice(2);
const read = async (path: string) => JSON.parse(await readFile(path, 'utf8'));
const kept = keptDurations(await read(committed), await read(from), testFiles());
await writeFile(to, `${JSON.stringify(kept, undefined, 2)}\n`);

if (to === committed) {
  const runs = join(import.meta.dirname, 'runs.json');
  const all = withRun((await read(runs)) as RunCost[], (await read(costFile)) as RunCost);
  await writeFile(runs, `${JSON.stringify(all, undefined, 2)}\n`);
  const page = join(import.meta.dirname, '../../FIGURES.md');
  await writeFile(page, withRuns(await readFile(page, 'utf8'), all));
}
