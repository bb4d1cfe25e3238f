import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { runScript, startScript } from '../support/npm-run.ts';
import { ShippedRights } from '../support/shipped-rights.ts';
import { until } from '../support/until.ts';
import { Workbench } from '../support/workbench.ts';
import { run } from '../tools/testbed/run.ts';

test('build creates command lines that run', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'build-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  await runScript('build', [directory]);
  expect(await run([process.execPath, join(directory, 'hcp.js'), '--help'])).toMatch(/^ {2}status +\w/m);
  expect(await run([process.execPath, join(directory, 'hcp-import.js'), '--help'])).toMatch(/^ {2}cluster +\w/m);
});

test('hcp and hcp-import list their commands', async () => {
  expect(await runScript('hcp', ['--help'])).toMatch(/^ {2}preflight +\w/m);
  expect(await runScript('hcp-import', ['--help'])).toMatch(/^ {2}delete-volumes +\w/m);
});

test('start runs the operator until a signal', async () => {
  const bench = await Workbench.open(inject('kubeconfig'), 'scripts');
  const port = await freePort();
  const args = ['--namespace', 'scripts', '--health-port', String(port), '--metrics-port', '0'];
  const { client, namespace } = bench;
  const place = { client, kubeconfig: inject('kubeconfig'), namespace };
  const rights = await ShippedRights.grant({ ...place, watchNamespace: namespace });
  const operator = startScript('start', args, { KUBECONFIG: rights.kubeconfig, LEADER_ELECTION: 'false' });
  try {
    await until(
      'the operator to be ready',
      async () => {
        const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
        return answer?.ok;
      },
      180_000,
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${operator.output()}`, { cause: error });
    });
  } finally {
    operator.signal('SIGTERM');
    await operator.ended;
    await rights.end();
    await bench.close();
  }
  expect(operator.output()).toContain('stopping');
});
