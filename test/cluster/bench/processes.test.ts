import { expect, test } from 'vitest';
import { processParts } from '../../bench/parts.ts';
import { smokeOf, unmeasuredIn } from '../../bench/smoke.ts';
import { runScript } from '../../support/npm-run.ts';

test('every part of the bench that needs only processes can still be measured', async () => {
  const output = await runScript('bench', smokeOf(processParts));
  expect(unmeasuredIn(output, processParts)).toEqual([]);
});
