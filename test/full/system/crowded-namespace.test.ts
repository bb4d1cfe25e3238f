import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { ConfigMap } from '../../../constructs/api/resources.ts';
import { objectLabels } from '../../../constructs/cluster/labels.ts';
import { WatchedOperator } from '../../support/hostile-tenant/watched-operator.ts';
import { installProvider, removeProvider } from '../../support/provider.ts';
import { until } from '../../support/until.ts';
import { single, Workbench } from '../../support/workbench.ts';
import { instanceFrom } from '../../tools/testbed/instance.ts';

// The operator as its installation runs it, with its memory. In a simulated world: test/scenarios/many-control-planes.
const instance = instanceFrom(process.env, inject('testbed'));
const report = (line: string): void => console.log(line);
const mebibyte = 'x'.repeat(1024 * 1024 - 1024);
/** In MiB, more than one namespace may have of the memory of a process with a limit of 1 GiB. */
const most = 220;
const atOnce = 10;

let crowded: Workbench;
let neighbour: Workbench;
let operator: WatchedOperator;

beforeAll(async () => {
  // What a run that was killed has left goes while no operator adds its finalizers again.
  await removeProvider(instance);
  crowded = await Workbench.open(inject('kubeconfig'), 'crowded');
  neighbour = await Workbench.open(inject('kubeconfig'), 'beside');
  await installProvider(instance, report);
  await Promise.all([crowded, neighbour].map((bench) => bench.create('c1', single)));
  await Promise.all([crowded, neighbour].map((bench) => bench.untilRolledOut('c1')));
  operator = new WatchedOperator(crowded.client);
});
afterAll(async () => {
  await removeProvider(instance);
  await Promise.all([crowded, neighbour].map((bench) => bench?.close()));
});

const nameOf = (number: number) => ({ namespace: crowded.namespace, name: `stuffing-${number}` });

/** As someone who may create ConfigMaps there, and knows which ones the operator looks for. */
async function stuff(number: number): Promise<void> {
  const { apiVersion, kind } = ConfigMap;
  const metadata = { ...nameOf(number), labels: objectLabels('c1', 'etcd') };
  await crowded.client.create({ apiVersion, kind, metadata, data: { text: mebibyte } }, { fieldManager: 'somebody' });
}

const numbersFrom = (first: number) => Array.from({ length: atOnce }, (_, index) => first + index);

test('a namespace with more objects than the operator can hold says so, goes on serving, and costs nobody else anything', async () => {
  const before = await operator.restarts();
  let count = 0;
  const isFull = async () => (await crowded.condition('c1', 'Ready'))?.reason === 'NamespaceTooLarge';
  while (count < most && !(await isFull())) {
    await Promise.all(numbersFrom(count).map(stuff));
    count += atOnce;
  }
  const said = await crowded.untilCondition('c1', 'Ready', { status: 'False', reason: 'NamespaceTooLarge' });
  report(`${count} ConfigMaps of 1 MiB: ${said.message}`);
  expect(said.message).toMatch(/need more memory of the operator than the [\d.]+ MiB that it may have/);

  await neighbour.untilSeen('c1');
  expect((await neighbour.condition('c1', 'Ready'))?.status).toBe('True');
  const hosted = await crowded.hosted('c1');
  expect(await hosted.raw('/readyz')).toBe('ok');
  await hosted.connection.close();

  for (let first = 0; first < count; first += atOnce) {
    await Promise.all(numbersFrom(first).map((number) => crowded.client.delete(ConfigMap, nameOf(number))));
  }
  // It lists what is too large again after five minutes at the latest.
  const isReady = async () => (await crowded.condition('c1', 'Ready'))?.status === 'True';
  await until('the namespace to be reconciled again', isReady, 600_000);
  await crowded.untilSeen('c1');
  expect(await operator.restarts()).toEqual(before);
  const memory = await operator.memory();
  report(memory.map(({ mostBytes }) => `at most ${Math.round(mostBytes / 1024 ** 2)} MiB`).join(', '));
});
