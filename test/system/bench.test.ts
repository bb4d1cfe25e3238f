import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { Namespace } from '../../constructs/api/resources.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import { testbedParts } from '../bench/parts.ts';
import { smokeOf, unmeasuredIn } from '../bench/smoke.ts';
import { runScript } from '../support/npm-run.ts';
import { isProviderInstalled, removeProvider } from '../support/provider.ts';
import { clientOf } from '../testbed/access.ts';
import { instanceFrom } from '../testbed/instance.ts';
import { kubectl } from '../testbed/kubectl.ts';
import { machineNames } from '../testbed/machine.ts';

const instance = instanceFrom(process.env, inject('testbed'));
let client: KubeClient;
let output: string;

beforeAll(async () => {
  client = await clientOf(instance);
  // left by another file that failed
  await removeProvider(instance);
  output = await runScript('bench', smokeOf(testbedParts), { HCP_TESTBED: instance.name });
});
afterAll(() => client.connection.close());

test('every part of the bench that needs a testbed can still be measured', () => {
  expect(unmeasuredIn(output, testbedParts)).toEqual([]);
});

test('figures of a smoke run are not compared with goals', () => {
  expect(output).toMatch(/^1 API server, 1 etcd member: ready \/ floor +\d+\.\d\d ratio$/m);
  expect(output).not.toContain(' goal ');
});

test('a testbed that was up before the bench is unchanged', async () => {
  const { items } = await client.list(Namespace);
  const left = items.filter(({ metadata }) => metadata.name.startsWith('bench') && !metadata.deletionTimestamp);
  expect(left).toEqual([]);
  expect(await machineNames(instance)).toEqual(['m']);
  expect(await isProviderInstalled(instance)).toBe(false);
  expect(await kubectl(instance, ['get', 'flowschemas', '--output', 'name'])).not.toContain('bench');
});
