import { buildDirectory, bundleOperator } from './operator-bundle.ts';

// `npm run build [-- DIRECTORY]`
const [directory = buildDirectory] = process.argv.slice(2);
const sizeBytes = await bundleOperator(directory);
console.log(`${directory}/main.js: ${(sizeBytes / 1e6).toFixed(1)} MB`);
