import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { managerImage } from '../../constructs/provider/image.ts';
import { buildDirectory, bundleOperator } from './operator-bundle.ts';
import { packOperatorImage } from './operator-image.ts';

// `npm run image [-- REFERENCE [DIRECTORY]]`
const [reference = managerImage, directory = buildDirectory] = process.argv.slice(2);
const archive = join(directory, 'image.tar');
await bundleOperator(directory);
const digest = await packOperatorImage(archive, reference, directory);
const { size } = await stat(archive);
console.log(`${archive}: ${reference} ${digest}, ${(size / 1e6).toFixed(0)} MB`);
