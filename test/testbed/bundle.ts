import { bundleOperator } from './operator-bundle.ts';

// `npm run build`
const sizeBytes = await bundleOperator();
console.log(`build/main.js: ${(sizeBytes / 1e6).toFixed(1)} MB`);
