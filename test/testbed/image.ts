import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { buildDirectory, bundleOperator } from './operator-bundle.ts';
import { defaultReference, packOperatorImage } from './operator-image.ts';

// `npm run image [-- REFERENCE]`
const reference = process.argv[2] ?? (await defaultReference());
const archive = join(buildDirectory, 'image.tar');
await bundleOperator();
const digest = await packOperatorImage(archive, reference);
const { size } = await stat(archive);
console.log(`build/image.tar: ${reference} ${digest}, ${(size / 1e6).toFixed(0)} MB`);
