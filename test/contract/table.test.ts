import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { repository } from '../support/pages.ts';
import { ids } from './ids.ts';
import { contract, fileOf } from './table.ts';

/**
 * What is not proved as a whole. An id may leave the list when its row has all proofs; one that comes back is a decision
 * of the author who writes it here.
 */
const open: readonly string[] = [];

describe('the contract', () => {
  it('has a row for every id, and no other', () => {
    expect(Object.keys(contract).sort()).toEqual([...ids].sort());
    expect(ids).toHaveLength(124);
  });

  it('is open in these demands only', () => {
    expect(ids.filter((id) => 'open' in contract[id])).toEqual(open);
  });

  it('makes each demand once, in one sentence', () => {
    const demands = ids.map((id) => contract[id].demand);
    expect(new Set(demands).size).toBe(demands.length);
    expect(demands.filter((demand) => !/^[^.]+(\.[^ .][^.]*)*\.$/.test(demand))).toEqual([]);
  });
});

const rows = ids.map((id) => ({ id, proofs: contract[id].proofs ?? [] })).filter(({ proofs }) => proofs.length > 0);

it.each(rows)('$id is proved by tests that exist', async ({ proofs }) => {
  const missing = await Promise.all(
    proofs.map(async (proof) => ((await isThere(fileOf(proof), proof[1])) ? [] : [proof])),
  );
  expect(missing.flat()).toEqual([]);
});

const sources = new Map<string, Promise<string>>();

/** Whether a file has a test, or a row of a table of tests, with this name. */
async function isThere(file: string, name: string): Promise<boolean> {
  // A table of cases lies beside its test.
  if (!/(\.test|-cases)\.ts$/.test(file) || !existsSync(join(repository, file))) return false;
  const source = sources.get(file) ?? readFile(join(repository, file), 'utf8');
  sources.set(file, source);
  const text = (await source).replaceAll("\\'", "'");
  return ["'", '"', '`'].some((quote) => text.includes(`${quote}${name}${quote}`));
}
