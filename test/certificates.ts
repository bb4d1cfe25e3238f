/** `npx tsx test/certificates.ts`: writes the plan and the policy of certificates as tables into the README. */
import { readFile, writeFile } from 'node:fs/promises';
import { withCertificateTables } from './support/certificate-tables.ts';
import { readme } from './support/readme-block.ts';

await writeFile(readme, withCertificateTables(await readFile(readme, 'utf8')));
console.log(`tables of certificates in ${readme}`);
