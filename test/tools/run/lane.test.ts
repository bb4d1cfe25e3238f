import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { processRecord } from '../testbed/process-record.ts';
import { until } from '../../support/until.ts';
import { endOnAbort, familiesFor } from './lane.ts';

/** A program that leads a group, in which another one runs that ignores SIGTERM. Resolves when both do what they will do. */
async function startGroup(onTerm: 'ends' | 'ignores'): Promise<{ leader: ChildProcess; member: number }> {
  const ignore = "process.on('SIGTERM', () => {}); setInterval(() => {}, 60_000);";
  const script = `
    const member = require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(`${ignore} console.log('ready')`)}]);
    ${onTerm === 'ignores' ? ignore : ''}
    member.stdout.once('data', () => console.log(member.pid));`;
  const leader = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  onTestFinished(() => {
    try {
      if (leader.pid) process.kill(-leader.pid, 'SIGKILL');
    } catch {
      // it has ended, as it should
    }
  });
  const [line] = (await once(createInterface({ input: leader.stdout }), 'line')) as [string];
  return { leader, member: Number(line) };
}

describe('a lane that is to end', () => {
  it.each([
    ['is killed with its group, if it goes on', 'ignores', 300, 'SIGKILL'],
    ['does so by itself, and what it has started is killed', 'ends', 60_000, 'SIGTERM'],
  ] as const)('%s', async (_what, onTerm, patienceMs, by) => {
    const { leader, member } = await startGroup(onTerm);
    const deadline = new AbortController();
    endOnAbort(leader, deadline.signal, patienceMs);
    const closed = once(leader, 'close');
    deadline.abort();
    expect(await closed).toEqual([null, by]);
    await until('the other program to end', async () => (await processRecord(member)) === undefined, 10_000);
  });
});

it.each([
  [undefined, []],
  ['', []],
  ['helm,etcd-3.6', ['helm', 'etcd-3.6']],
])('the families that a lane wants first, from %j', (value, families) => {
  expect(familiesFor({ HCP_TEST_FAMILIES: value })).toEqual(families);
});
