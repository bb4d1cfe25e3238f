import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { startTracing, type Tracing } from '../../reconciler/operator/telemetry/start-tracing.ts';
import { operatedNamespace } from '../support/operated-namespace.ts';
import { OtelCollector, type PrintedSpan } from '../support/otel-collector.ts';
import { single } from '../support/workbench.ts';
import { instanceFrom } from '../tools/testbed/instance.ts';

let directory: string;
let collector: OtelCollector;
let tracing: Tracing;
const problems: string[] = [];
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'collector-'));
  collector = await OtelCollector.start(directory, instanceFrom(process.env, inject('testbed')).cache);
  tracing = await startTracing(collector.endpoint, (message) => void problems.push(message));
});
const bench = operatedNamespace('collector');
afterAll(async () => {
  await collector?.stop();
  await rm(directory, { recursive: true, force: true });
});

test("OpenTelemetry's own collector shows each reconcile with its phases, and their calls to the API server and to etcd", async () => {
  await bench.create('c1', single);
  await bench.untilReady('c1');
  await tracing.stop();
  expect(problems).toEqual([]);
  expect(await collector.output()).toContain('-> service.name: Str(hosted-control-plane)');
  const spans = await collector.spans();
  const byId = new Map(spans.map((span) => [span.id, span]));
  const pathOf = (span: PrintedSpan): string => {
    const parent = byId.get(span.parent);
    expect(parent === undefined ? '' : parent.trace).toBe(parent === undefined ? span.parent : span.trace);
    return parent === undefined ? span.name : `${pathOf(parent)} > ${span.name}`;
  };
  const paths = new Set(spans.map(pathOf));
  console.log(`${spans.length} spans:\n${[...paths].sort().join('\n')}`);
  for (const expected of [
    'reconcile',
    'reconcile > EtcdClusterReady',
    'reconcile > APIServerDeploymentsReady > apply deployments',
    'reconcile > CACertificatesReady > create secrets',
  ])
    expect(paths).toContain(expected);
  expect([...paths].some((path) => path.startsWith('etcd '))).toBe(true);
  // A reconcile that another one has caused is a trace of its own, and so is a watch.
  expect([...paths].filter((path) => / > (reconcile|watch )/.test(path))).toEqual([]);
}, 120_000);
