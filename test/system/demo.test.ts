import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, inject, test } from 'vitest';
import { runScript } from '../support/npm-run.ts';
import { removeProvider } from '../support/provider.ts';
import { Workbench } from '../support/workbench.ts';
import { instanceFrom } from '../testbed/instance.ts';

const instance = instanceFrom(process.env, inject('testbed'));
const env = { HCP_TESTBED: instance.name };

afterAll(async () => {
  try {
    await runScript('testbed', ['worker', 'rm', 'demo', '--namespace', 'demo'], env);
  } finally {
    await (await Workbench.open(inject('kubeconfig'), 'demo')).close();
    await removeProvider(instance);
  }
});

test('the demo ends with a worker whose pods answer, and reuses it; a worker that never joined is replaced', async () => {
  const first = await runScript('demo', [], env);
  expect(first).toContain('demo-worker-1 was Ready');
  expect(first).toContain('until both had answered');
  // as `worker add` leaves it when it is killed before the machine exists
  await symlink('demo/demo', join(instance.directory, 'workers/demo-worker-9'));
  const second = await runScript('demo', [], env);
  expect(second).toContain('removed demo-worker-9, which an earlier run did not let join');
  expect(second).toContain('demo-worker-1 is there already, and Ready');
});
