// `npm run test:durations [-- FROM TO]`: stores the durations of the last complete run, which determine the order of files
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { measuredFile } from './output.ts';

const [from = measuredFile, to = join(import.meta.dirname, 'durations.json')] = process.argv.slice(2);
await copyFile(from, to);
