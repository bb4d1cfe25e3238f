import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { conditions, conditionTypes } from '../../../constructs/api/conditions.ts';
import { hostedControlPlaneCRD } from '../../../constructs/api/crd.ts';
import { blockIn } from '../../support/readme-block.ts';
import { generated, generatedParts } from '../../support/generated-pages.ts';
import { readPage, repository } from '../../support/pages.ts';

describe('what pages take from the sources', () => {
  it.each(Object.keys(generatedParts))('is up to date in %s; `npm run docs` writes it', async (path) => {
    const { text } = await readPage(path);
    expect(text).toBe(await generated(path, text));
  });

  it('shows the printer columns of the CRD in the order of the CRD', async () => {
    const { text } = await readPage('README.md');
    const [heading = ''] = blockIn(text, 'kubectl')
      .split('\n')
      .filter((line) => line.startsWith('NAME '));
    const printed = hostedControlPlaneCRD.spec.versions[0].additionalPrinterColumns.filter(
      ({ priority = 0 }) => priority === 0,
    );
    expect(heading.split(/ {2,}/)).toEqual(['NAME', ...printed.map(({ name }) => name.toUpperCase())]);
  });
});

it('the API reference has the message of every rule of the CRD', async () => {
  const { text } = await readPage('constructs/api/REFERENCE.md');
  const messages = [...JSON.stringify(hostedControlPlaneCRD).matchAll(/"message":("(?:[^"\\]|\\.)*")/g)].map(
    ([, message = '']) => JSON.parse(message) as string,
  );
  expect(messages.length).toBeGreaterThan(200);
  expect(messages.filter((message) => !text.includes(message.replaceAll('<', '\\<').replaceAll('|', '\\|')))).toEqual(
    [],
  );
});

it('the symptoms in constructs/provider/TROUBLESHOOTING.md lead to conditions and reasons that exist', async () => {
  const { prose } = await readPage('constructs/provider/TROUBLESHOOTING.md');
  const known = [...conditionTypes, ...conditionTypes.flatMap((type) => Object.keys(conditions[type].reasons))];
  const named = [...prose.matchAll(/`([A-Z][a-z]+(?:[A-Z]+[a-z]+)+)`/g)].map(([, name = '']) => name);
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter((name) => !known.includes(name))).toEqual([]);
});

describe.each(['reconciler/THREATS.md', 'reconciler/BELIEFS.md'])('the attempts in %s', async (page) => {
  const { text } = await readPage(page);
  const proofs = [...text.matchAll(/\| `(test\/[^`]+)`: ([^|]+) \|$/gm)].map(([, file = '', name = '']) => ({
    file,
    name,
  }));

  it('are many', () => expect(proofs.length).toBeGreaterThan(15));

  it.each(proofs)('are tried by "$name"', async ({ file, name }) => {
    expect(await readFile(join(repository, file), 'utf8')).toContain(name);
  });
});
