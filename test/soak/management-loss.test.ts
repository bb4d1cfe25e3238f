import { readFile } from 'node:fs/promises';
import { beforeAll, expect, test } from 'vitest';
import { Namespace } from '../../constructs/api/resources.ts';
import { ownTestbed } from '../support/own-testbed.ts';
import { clientOf } from '../tools/testbed/access.ts';
import { bringUp } from '../tools/testbed/bring-up.ts';
import { checkHealth } from '../tools/testbed/health.ts';
import { apiServerUrl, caPath, kubeconfigPath } from '../tools/testbed/instance.ts';
import { kubectl } from '../tools/testbed/kubectl.ts';
import { findMachine, inMachine, type Machine } from '../tools/testbed/machine.ts';
import { loseManagement, replaceManagement } from '../tools/testbed/management-loss.ts';
import { addMachine } from '../tools/testbed/node-machines.ts';
import { type Report, until } from '../tools/testbed/progress.ts';
import { startService } from '../tools/testbed/service.ts';
import { takeDown } from '../tools/testbed/take-down.ts';

const instance = ownTestbed('loss');
const silent: Report = () => {};
let worker: Machine;
let before: { readonly service: string; readonly certificateAuthority: string };

beforeAll(async () => {
  await bringUp(instance, silent);
  worker = await addMachine(instance, 'worker');
  await startService(worker, 'page', ['busybox', 'httpd', '-f', '-p', '8080', '-h', '/etc']);
  await kubectl(instance, ['create', 'namespace', 'lost']);
  before = { service: await servicePid(), certificateAuthority: await readFile(caPath(instance), 'utf8') };
  await loseManagement(instance, silent);
});

test('without its management cluster an instance is broken, and its worker continues', async () => {
  expect(await checkHealth(instance)).toMatchObject({ state: 'broken' });
  expect(await findMachine(instance, 'm')).toBeUndefined();
  expect(await findMachine(instance, 'worker')).toEqual(worker);
  expect(await inMachine(worker, ['busybox', 'wget', '-qO-', 'http://127.0.0.1:8080/hostname'])).toBe('worker\n');
});

test('a new one has no data of the old one, and the worker reaches it at the same address', async () => {
  await replaceManagement(instance, silent);
  expect(await checkHealth(instance)).toEqual({ state: 'up' });
  const client = await clientOf(instance);
  expect(await client.find(Namespace, { name: 'lost' })).toBeUndefined();
  await client.connection.close();
  expect(await readFile(caPath(instance), 'utf8')).not.toBe(before.certificateAuthority);
  const question = ['kubectl', '--kubeconfig', kubeconfigPath(instance), 'get', '--raw', '/readyz'] as const;
  expect(await inMachine(worker, question)).toBe('ok');
  expect(await kubectl(instance, ['cluster-info'])).toContain(apiServerUrl(instance));
  expect(await servicePid()).toBe(before.service);
});

test('down removes the new one and the worker', async () => {
  expect(await takeDown(instance, silent)).toEqual([]);
  expect(await checkHealth(instance)).toEqual({ state: 'down' });
});

function servicePid(): Promise<string> {
  // The supervisor writes it once the program runs.
  return until({ what: 'the page to be served', timeoutMs: 60_000 }, async () => {
    return (await inMachine(worker, ['cat', '/run/services/page/pid'])).trim() || undefined;
  });
}
