import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';

const module = join(import.meta.dirname, '../../../../reconciler/reconcile/quarantine/watch-loop.ts');

/** Runs a program whose event loop may stand still for half a second. */
function run(program: string) {
  const script = `import { watchLoop } from ${JSON.stringify(module)};
    await watchLoop((error) => console.error(error), 500);
    setTimeout(() => process.exit(3), 2_500);
    ${program}`;
  return spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: ['ignore', 'pipe', 'pipe'] });
}

it('ends a process whose event loop stands still, and says so', async () => {
  const still = 'const end = performance.now() + 4_000; while (performance.now() < end); process.exit(4);';
  const child = run(`setTimeout(() => { ${still} }, 100)`);
  const [[, signal], said] = await Promise.all([once(child, 'exit'), text(child.stderr)]);
  expect([signal, said]).toEqual(['SIGKILL', expect.stringContaining('the event loop has stood still for 0.5 s')]);
});

it('lets a process live that works much and turns', async () => {
  const child = run(`setInterval(() => { const end = performance.now() + 150; while (performance.now() < end); }, 1)`);
  expect(await once(child, 'exit')).toEqual([3, null]);
});

it('lets a process live that was frozen', async () => {
  const child = run(`setTimeout(() => console.log('runs'), 300)`);
  await once(child.stdout, 'data');
  child.kill('SIGSTOP');
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  child.kill('SIGCONT');
  expect(await once(child, 'exit')).toEqual([3, null]);
});
