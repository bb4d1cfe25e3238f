import { buildDirectory, bundleOperator } from './operator-bundle.ts';

// `npm run build [-- DIRECTORY]`
const [directory = buildDirectory] = process.argv.slice(2);
const { bytes } = await bundleOperator(directory);
console.log(`${directory}/main.js and its chunks: ${(bytes / 1e6).toFixed(1)} MB`);
