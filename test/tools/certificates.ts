/** `npm run certificates [-- FILE]`: writes the plan and the policy of certificates as tables into reconciler/certificates/ISSUED.md. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withCertificateTables } from '../support/certificate-tables.ts';
import { certificatesPage } from '../support/generated-pages.ts';
import { repository } from '../support/pages.ts';

const [file = join(repository, certificatesPage)] = process.argv.slice(2);
await writeFile(file, withCertificateTables(await readFile(file, 'utf8')));
console.log(`tables of certificates in ${file}`);
