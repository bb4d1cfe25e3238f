import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Fault, recordedFaults, recordFault, withFaults } from './fault-table.ts';

const killed: Fault = {
  fault: 'kill -9 of the leader',
  observed: 'the other two\nelect one of them | writes go on',
  recoverySeconds: 1.26,
  dataLost: 'none',
};
const storeAway: Fault = {
  fault: 'S3 refuses connections',
  observed: 'BackupReady is False',
  recoverySeconds: undefined,
  dataLost: 'none',
};

describe('faults that are recorded', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'faults-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('come back in the order of their names', async () => {
    await recordFault(storeAway, directory);
    await recordFault(killed, directory);
    expect(await recordedFaults(directory)).toEqual([killed, { ...storeAway, recoverySeconds: undefined }]);
    expect(await readdir(directory)).toEqual(['kill-9-of-the-leader.json', 's3-refuses-connections.json']);
  });

  it('are replaced by what a later run saw', async () => {
    await recordFault(killed, directory);
    await recordFault({ ...killed, recoverySeconds: 0.9 }, directory);
    expect(await recordedFaults(directory)).toEqual([{ ...killed, recoverySeconds: 0.9 }]);
  });

  it('are none where no test has recorded any', async () => {
    expect(await recordedFaults(join(directory, 'absent'))).toEqual([]);
  });
});

describe('the table of faults', () => {
  const above = 'above\n<!-- faults -->\n';
  const empty = `${above}<!-- /faults -->\nbelow`;

  it('has a row for each in the order of their names, and no text that breaks out of its cell', () => {
    expect(withFaults(empty, [storeAway, killed]).split('\n')).toEqual([
      'above',
      '<!-- faults -->',
      '',
      '| fault | what is seen | time to recover | data lost |',
      '| --- | --- | --- | --- |',
      '| kill -9 of the leader | the other two elect one of them \\| writes go on | 1.3 s | none |',
      '| S3 refuses connections | BackupReady is False | nothing stopped | none |',
      '',
      '<!-- /faults -->',
      'below',
    ]);
  });

  it('keeps the rows that no test has recorded again, and stays the same when there is nothing new', () => {
    const once = withFaults(empty, [storeAway, killed]);
    const { fault, observed, dataLost } = killed;
    const later = withFaults(once, [{ fault, observed, dataLost, recoverySeconds: 74.6 }]);
    expect(later).toBe(once.replace('1.3 s', '75 s'));
    expect(withFaults(later, [])).toBe(later);
  });

  it.each([
    ['has no markers', 'text'],
    ['never ends the table', '<!-- faults --> text'],
    ['ends it before it begins', '<!-- /faults --> <!-- faults -->'],
    ['has two places for it', '<!-- faults --><!-- /faults --><!-- faults --><!-- /faults -->'],
  ])('is refused by a text that %s', (_, text) => {
    expect(() => withFaults(text, [])).toThrow('each once');
  });
});
