import { readFile } from 'node:fs/promises';
import { expect, inject, test } from 'vitest';
import { instanceFrom } from './instance.ts';
import { findMachine, inMachine } from './machine.ts';
import { timerSlackNs } from './timer-slack.ts';

const slackOf = '/proc/$(pgrep --oldest --exact coredns)/timerslack_ns';

test('timers of pods may fire late, which spares interrupts', async () => {
  const machine = await findMachine(instanceFrom(process.env, inject('testbed')), 'm');
  if (!machine) throw new Error('the testbed has no machine m');
  const slack = await inMachine(machine, ['sh', '-c', `cat ${slackOf}`]);
  expect(Number(slack)).toBe(timerSlackNs);
});

test('timers of the programs that tests start may fire late', async () => {
  expect(Number(await readFile('/proc/self/timerslack_ns', 'utf8'))).toBe(timerSlackNs);
});
