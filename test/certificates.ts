/** `npm run certificates [-- FILE]`: writes the plan and the policy of certificates as tables into the README. */
import { readFile, writeFile } from 'node:fs/promises';
import { withCertificateTables } from './support/certificate-tables.ts';
import { readme } from './support/readme-block.ts';

const [file = readme] = process.argv.slice(2);
await writeFile(file, withCertificateTables(await readFile(file, 'utf8')));
console.log(`tables of certificates in ${file}`);
