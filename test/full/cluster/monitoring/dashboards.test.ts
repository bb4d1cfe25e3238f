import type { Server } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { stringify } from 'yaml';
import { alerts } from '../../../../constructs/provider/monitoring/alerts.ts';
import { controlPlanePanels, fleetPanels } from '../../../../constructs/provider/monitoring/panels.ts';
import { systemClock } from '../../../../reconciler/kube/clock.ts';
import { KubeClient } from '../../../../reconciler/kube/client.ts';
import { ScrapeAccess } from '../../../../reconciler/operator/telemetry/scrape-access.ts';
import { serveMetricsSecurely } from '../../../../reconciler/operator/http-servers.ts';
import { BackupWorkbench, unverifiedBackup } from '../../../support/backup-workbench.ts';
import { ChildProgram } from '../../../support/child-program.ts';
import { Loan } from '../../../support/lent/loan.ts';
import { endMetricsReader, metricsReader } from '../../../support/metrics-reader.ts';
import { freePort } from '../../../support/free-port.ts';
import { until } from '../../../support/until.ts';
import { instanceFrom } from '../../../tools/testbed/instance.ts';
import { findPrometheus } from '../../../tools/testbed/prometheus.ts';

const loan = new Loan('plain');
const { namespace } = loan.kind;
const name = 'c1-cp';
const scraper = { namespace, name: 'prometheus' };
let bench: BackupWorkbench;
/** With the rights of the operator, which asks who may read its metrics. */
let reviewer: KubeClient | undefined;
let metrics: Server;
let prometheus: ChildProgram;
let directory: string;
let url: string;

interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data: { readonly result: readonly { readonly metric: object }[] };
}

beforeAll(async () => {
  const programs = await findPrometheus(instanceFrom(process.env, inject('testbed')).cache, (line) =>
    console.log(line),
  );
  bench = await BackupWorkbench.borrow(loan, { withoutImage: true });
  await bench.patch('c1', { spec: { etcd: { backup: unverifiedBackup } } });
  await until('a backup', async () => (await bench.get('c1')).status?.etcdLastBackupTime);

  const [operatorPort, port] = [await freePort(), await freePort()];
  reviewer = new KubeClient(await (await bench.rights).connect());
  const access = new ScrapeAccess(reviewer, systemClock, (error) => console.error(error));
  metrics = await serveMetricsSecurely(operatorPort, bench.operator.operator.metrics, access);
  directory = await mkdtemp(join(tmpdir(), 'prometheus-'));
  const configuration = {
    global: { scrape_interval: '1s' },
    scrape_configs: [
      {
        job_name: 'operator',
        honor_labels: true,
        scheme: 'https',
        tls_config: { insecure_skip_verify: true },
        authorization: { credentials: await metricsReader(bench.client, scraper) },
        static_configs: [{ targets: [`127.0.0.1:${operatorPort}`] }],
      },
    ],
  };
  const file = join(directory, 'prometheus.yaml');
  await writeFile(file, stringify(configuration));
  const flags = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${join(directory, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  prometheus = new ChildProgram(programs.prometheus, flags, { log: join(directory, 'log') });
  url = `http://127.0.0.1:${port}`;
  await until('two scrapes', async () => {
    const scraped = await query('count_over_time(hosted_control_plane_build_info[1m]) >= 2').catch(() => undefined);
    return (scraped?.length ?? 0) > 0;
  });
});
afterAll(async () => {
  await prometheus?.end();
  metrics?.close();
  metrics?.closeAllConnections();
  await reviewer?.connection.close();
  await endMetricsReader(bench.client, scraper);
  await bench.close();
  await rm(directory, { recursive: true, force: true });
});

/** @throws with the words of Prometheus when it does not understand the expression */
async function query(expression: string): Promise<Answer['data']['result']> {
  const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(expression)}`);
  const { status, error, data } = (await response.json()) as Answer;
  if (status !== 'success') throw new Error(`${expression}: ${error}`);
  return data.result;
}

/** An expression with the values that a person chooses in Grafana. */
const chosen = (expression: string): string =>
  expression.replaceAll('$namespace', namespace).replaceAll('$name', name).replaceAll('$__rate_interval', '1m');

/** Has series only while a condition of a control plane is not what it usually is. */
const isOfUnusual = ({ expression }: { readonly expression: string }) => expression.includes('type!~');

const queries = [
  ...fleetPanels.map((panel) => ({ dashboard: 'fleet', ...panel })),
  ...controlPlanePanels.map((panel) => ({ dashboard: 'control plane', ...panel })),
].flatMap(({ dashboard, title, queries: all }) =>
  all.map(({ expression, legend }) => ({ dashboard, title, expression, legend })),
);

it.each(queries.filter((query) => !isOfUnusual(query)))(
  'the panel $title of the $dashboard shows series, each with the labels of its name',
  async (given) => {
    const series = await query(chosen(given.expression));
    expect(series.length).toBeGreaterThan(0);
    const labels = [...given.legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
    for (const { metric } of series) expect(Object.keys(metric)).toEqual(expect.arrayContaining(labels));
  },
);

it.each(alerts)('Prometheus understands the expression of $name, and finds nothing wrong', async ({ expression }) => {
  expect(await query(expression)).toEqual([]);
});

it('the panel of conditions names one that is unusual, and none before', async () => {
  const [{ expression } = { expression: '' }, ...others] = queries.filter(isOfUnusual);
  expect(others).toEqual([]);
  expect(await query(chosen(expression))).toEqual([]);
  const pause = (isPaused: boolean) =>
    bench.patch('c1', { metadata: { annotations: { 'cluster.x-k8s.io/paused': isPaused ? '' : null } } });
  await pause(true);
  try {
    const series = await until('a series', async () => {
      const found = await query(chosen(expression));
      return found.length > 0 && found;
    });
    expect(series).toMatchObject([{ metric: { type: 'Paused', status: 'True' } }]);
  } finally {
    await pause(false);
    await bench.untilCondition('c1', 'Paused', { status: 'False' });
  }
});
