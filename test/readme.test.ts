import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { withCertificateTables } from './support/certificate-tables.ts';
import { readme } from './support/readme-block.ts';

it('has in the README the certificates and the policy that the sources say; `npm run certificates` writes them', async () => {
  const text = await readFile(readme, 'utf8');
  expect(text).toBe(withCertificateTables(text));
});
