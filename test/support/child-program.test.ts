import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { processRecord } from '../testbed/process-record.ts';
import { ChildProgram } from './child-program.ts';
import { until } from './until.ts';

let directory: string;
let log: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'child-'));
  log = join(directory, 'log');
});
afterEach(() => rm(directory, { recursive: true }));

const output = () => readFile(log, 'utf8').catch(() => '');
const ends = (pid: number) => until(`the end of ${pid}`, async () => (await processRecord(pid)) === undefined);

it.each([
  ['a program', 'echo $$; exec sleep 600'],
  ['a process that a program starts', 'sleep 600 & echo $!; wait'],
])('%s ends with the process that started the program, even if that process is killed', async (_, command) => {
  const module = join(import.meta.dirname, 'child-program.ts');
  const script = `import(${JSON.stringify(module)}).then(({ ChildProgram }) => {
    new ChildProgram('sh', ['-c', ${JSON.stringify(command)}], { log: ${JSON.stringify(log)} });
  }); setInterval(() => {}, 1000);`;
  const parent = spawn(process.execPath, ['-e', script], { stdio: 'ignore' });
  const pid = Number(await until('the program to run', async () => /^(\d+)\n/.exec(await output())?.[1]));
  parent.kill('SIGKILL');
  await expect(ends(pid)).resolves.toBe(true);
});

it('a process that a program starts ends with the program', async () => {
  const program = new ChildProgram('sh', ['-c', 'sleep 600 & echo $!; wait'], { log });
  const pid = Number(await until('the program to run', async () => /^(\d+)\n/.exec(await output())?.[1]));
  expect(program.isRunning).toBe(true);
  await program.end();
  expect(program.isRunning).toBe(false);
  await ends(pid);
});

it('a program that exits with an error reports its exit code and needs no end()', async () => {
  const program = new ChildProgram('sh', ['-c', 'exit 3'], { log });
  expect(await new Promise((resolve) => program.onFailure(resolve))).toBe(3);
  await program.end();
});
