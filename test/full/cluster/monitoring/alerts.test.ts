import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { alerts } from '../../../../constructs/provider/monitoring/alerts.ts';
import { renderMonitoring } from '../../../../constructs/provider/monitoring/chart.ts';
import { instanceFrom } from '../../../tools/testbed/instance.ts';
import { findPrometheus } from '../../../tools/testbed/prometheus.ts';
import { run } from '../../../tools/testbed/run.ts';
import { alertCases, healthy, type SeriesOf, unattended } from './alert-cases.ts';

/** Shorter than every alert lasts, and than the window of every rate. */
const step = '5m';
/** Later than every alert: certificates must be overdue for a day and an hour. */
const lateMinutes = 30 * 60;
let directory: string;
let promtool: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'alerts-'));
  ({ promtool } = await findPrometheus(instanceFrom(process.env).cache, (line) => console.log(line)));
  const rules = renderMonitoring().find(({ kind }) => kind === 'PrometheusRule');
  await writeFile(join(directory, 'rules.yaml'), stringify(rules?.['spec']));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** What Prometheus' own evaluation says: these alerts fire, and no other one. */
async function expectFiring(name: string, series: SeriesOf, minutes: number, firing: readonly string[]): Promise<void> {
  const input = Object.entries(series).flatMap(([one, values]) => (values === '' ? [] : [{ series: one, values }]));
  const test = {
    rule_files: ['rules.yaml'],
    evaluation_interval: step,
    tests: [
      {
        interval: step,
        input_series: input,
        promql_expr_test: [
          {
            expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
            eval_time: `${minutes}m`,
            exp_samples: firing.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
          },
        ],
      },
    ],
  };
  const file = join(directory, `${name}.yaml`);
  await writeFile(file, stringify(test));
  await run([promtool, 'test', 'rules', file]);
}

const lasts = ({ lasts: text }: (typeof alerts)[number]): number =>
  Number.parseInt(text, 10) * (text.endsWith('h') ? 60 : 1);

describe('Prometheus', () => {
  it('accepts the rules, with the templates in their annotations', async () => {
    expect(await run([promtool, 'check', 'rules', join(directory, 'rules.yaml')])).toContain(
      `${alerts.length} rules found`,
    );
  });

  it('raises no alert for a healthy fleet', async () => {
    await expect(expectFiring('healthy', healthy, lateMinutes, [])).resolves.toBeUndefined();
  });

  it.each(alerts)('raises $name when it must, and not before its time', async (alert) => {
    const { broken } = alertCases[alert.name] ?? { broken: {} };
    const series = { ...healthy, ...broken };
    await expect(expectFiring(alert.name, series, lateMinutes, [alert.name])).resolves.toBeUndefined();
    await expect(expectFiring(`${alert.name}-early`, series, lasts(alert) - 1, [])).resolves.toBeUndefined();
  });

  it.each(Object.entries(unattended))('raises none about a control plane that %s', async (state, series) => {
    const broken = Object.entries(alertCases).flatMap(([name, one]) =>
      alerts.some((alert) => alert.name === name && alert.expression.includes('Paused')) ? [one.broken] : [],
    );
    expect(broken.length).toBeGreaterThan(5);
    const all: SeriesOf = Object.assign({}, healthy, ...broken, series);
    await expect(expectFiring(state.replaceAll(' ', '-'), all, lateMinutes, [])).resolves.toBeUndefined();
  });
});
