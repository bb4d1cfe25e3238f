import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fanOutImage } from '../../../../constructs/control-plane/api-server/audit/fan-out.ts';

const root = join(import.meta.dirname, '../../../..');
const configuration = 'constructs/control-plane/api-server/audit/fan-out-config.ts';
const folder = 'reconciler/programs/audit-fan-out';
/** The folder of the sources when the image was first released: to move them changes no program, and restarts no API server. */
const firstFolder = 'reconciler/audit/fan-out';
const files = [configuration, ...globSync(`${folder}/**/*.ts`, { cwd: root }).toSorted()];
const sources = await Promise.all(
  files.map(async (file) => ({ file, text: await readFile(join(root, file), 'utf8') })),
);

it('the tag of the image changes with the sources of the fan-out, and with nothing else', () => {
  const hash = createHash('sha256');
  for (const { file, text } of sources) hash.update(`${file.replace(folder, firstFolder)}\n${text}`);
  expect(fanOutImage.tag).toMatch(new RegExp(`^[1-9][0-9]*-${hash.digest('hex').slice(0, 12)}$`));
});

it('the fan-out uses nothing but its own files, the type of its configuration, and Node', () => {
  const imports = sources.flatMap(({ text }) => [...text.matchAll(/from '([^']+)'/g)].map(([, from = '']) => from));
  expect(imports.length).toBeGreaterThan(10);
  const foreign = imports.filter((from) => !/^(node:|\.\/)/.test(from) && !from.endsWith(configuration));
  expect(foreign).toEqual([]);
  expect(sources[0]?.text).not.toContain('import');
});
