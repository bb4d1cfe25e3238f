import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { managerImage } from '../../constructs/provider/image.ts';
import { buildDirectory, bundleOperator } from './operator-bundle.ts';
import { packOperatorImage } from './operator-image.ts';

// `npm run image [-- REFERENCE]`
const reference = process.argv[2] ?? managerImage;
const archive = join(buildDirectory, 'image.tar');
await bundleOperator();
const digest = await packOperatorImage(archive, reference);
const { size } = await stat(archive);
console.log(`build/image.tar: ${reference} ${digest}, ${(size / 1e6).toFixed(0)} MB`);
