import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { Namespace } from '../../../constructs/api/resources.ts';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import { runScript } from '../../support/npm-run.ts';
import { isProviderInstalled, removeProvider } from '../../support/provider.ts';
import { clientOf } from '../../tools/testbed/access.ts';
import { instanceFrom } from '../../tools/testbed/instance.ts';
import { kubectl } from '../../tools/testbed/kubectl.ts';
import { machineNames } from '../../tools/testbed/machine.ts';

/** One part with pods and one with processes. A change of another part is seen when its figures are measured. */
const parts = ['control-planes', 'stalls'] as const;

const instance = instanceFrom(process.env, inject('testbed'));
let client: KubeClient;
let output: string;

beforeAll(async () => {
  client = await clientOf(instance);
  // left by another file that failed
  await removeProvider(instance);
  output = await runScript('bench', ['--smoke', ...parts.flatMap((part) => ['--only', part])], {
    HCP_TESTBED: instance.name,
  });
});
afterAll(() => client.connection.close());

test.each(parts)('the part %s of the bench can still be measured', (part) => {
  expect(output).toMatch(new RegExp(` s  ${part}$`, 'm'));
});

test('figures of a smoke run are not compared with goals', () => {
  expect(output).toMatch(/^1 API server, 1 etcd member: ready \/ floor +\d+\.\d\d ratio$/m);
  expect(output).not.toContain(' goal ');
});

// Longer parts compare their ratios when they are measured.
test('no ratio of backups is worse by more than a fifth than the last that was kept of this kind of machine', async () => {
  expect(await runScript('bench', ['--only', 'backups'])).toMatch(
    /^backup to S3: throughput \/ etcdctl .* ratio +goal /m,
  );
});

test('a testbed that was up before the bench is unchanged', async () => {
  const { items } = await client.list(Namespace);
  const left = items.filter(({ metadata }) => metadata.name.startsWith('bench') && !metadata.deletionTimestamp);
  expect(left).toEqual([]);
  expect(await machineNames(instance)).toEqual(['m']);
  expect(await isProviderInstalled(instance)).toBe(false);
  expect(await kubectl(instance, ['get', 'flowschemas', '--output', 'name'])).not.toContain('bench');
});
