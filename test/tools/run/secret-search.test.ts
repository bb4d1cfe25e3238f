import { generateKeyPairSync } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { SecretSearch } from './secret-search.ts';

const key = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
let output: string;
let state: string;
beforeEach(async () => {
  [output, state] = [await mkdtemp(join(tmpdir(), 'searched-')), await mkdtemp(join(tmpdir(), 'testbeds-'))];
  vi.stubEnv('HCP_TESTBED_STATE', state);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const directory of [output, state]) await rm(directory, { recursive: true });
});

it('a run whose output has no secret is not red', async () => {
  await writeFile(join(output, 'named.log'), '3 of 3 tests passed\n');
  expect(await new SecretSearch(output, ['test']).end()).toEqual([]);
});

it('a private key in what a lane printed is red', async () => {
  await writeFile(join(output, 'named.log'), JSON.stringify({ key }));
  expect(await new SecretSearch(output, ['test']).end()).toEqual(['the output contains secrets']);
});

it.each(['testhost', 'testhdemo', 'testhchar'])(
  'a private key in a log of %s is red, although its testbed is gone at the end',
  async (testbed) => {
    const log = join(state, testbed, 'machines/m/log');
    await mkdir(log, { recursive: true });
    await writeFile(join(log, 'operator.log'), JSON.stringify({ key }));
    const search = new SecretSearch(output, ['testhost']);
    expect(await search.end()).toEqual(['the output contains secrets']);
  },
);
