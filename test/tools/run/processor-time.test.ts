import { expect, it } from 'vitest';
import { ownProcessorSeconds, processOf, ProcessorTimeRecorder } from './processor-time.ts';

const stat = (name: string) => `42 (${name}) S 1 42 42 0 -1 4194560 1 2 3 4 150 50 7 8 20 0 9 0 123456 1 2 3`;

it("a process is identified by its pid and its start, and its program by the kernel's name for it", () => {
  expect(processOf(stat('kube-apiserver'))).toEqual({ id: '42 123456', program: 'kube-apiserver', ticks: 200 });
  expect(processOf(stat('kube-controller'))?.program).toBe('kube-controller-manager');
  const named = processOf(stat('a (strange) name'));
  expect(named).toEqual({ id: '42 123456', program: 'a (strange) name', ticks: 200 });
  expect(processOf('')).toBeUndefined();
});

it('the work of this process is counted, as that of node', async () => {
  const recorder = new ProcessorTimeRecorder();
  const before = await ownProcessorSeconds();
  while ((await ownProcessorSeconds()) < before + 0.3);
  const { busySeconds, byProgram, cores, wallSeconds } = await recorder.stop();
  expect(byProgram['node']).toBeGreaterThanOrEqual(0.2);
  expect(busySeconds).toBeLessThanOrEqual(cores * wallSeconds + 0.1);
});
