import { describe, expect, it } from 'vitest';
import { conditionTypes } from '../../../constructs/api/conditions.ts';
import { alerts } from '../../../constructs/provider/monitoring/alerts.ts';
import { renderMonitoring } from '../../../constructs/provider/monitoring/chart.ts';
import { Metrics } from '../../../reconciler/operator/telemetry/metrics.ts';
import { hostedControlPlaneObject } from '../../support/scope.ts';

/** A control plane that has a sample of every metric of objects. */
const status = {
  version: 'v1.36.3',
  releaseRevision: 1,
  etcdLastBackupTime: '2026-11-21T12:00:00Z',
  etcdVolumeSize: '4Gi',
  etcd: { quotaPercent: 25, members: [{ name: 'c1-etcd-0', role: 'Lost' as const }] },
  components: [{ name: 'scheduler' as const, ready: true }],
  certificates: [
    { kind: 'Server' as const, notAfter: '2027-11-21T12:00:00Z', secret: 'x', renewsAt: '2027-06-01T00:00:00Z' },
  ],
  conditions: [
    {
      type: 'Ready',
      status: 'True' as const,
      reason: 'Ready',
      message: '',
      lastTransitionTime: '2026-11-21T12:00:00Z',
    },
  ],
};
const metrics = new Metrics({
  hostedControlPlanes: () => [
    { ...hostedControlPlaneObject(), spec: { etcd: { backup: { schedule: '@daily' } } }, status },
  ],
  queueDepth: () => 0,
  runningWork: () => 0,
  clockOffsetMs: () => 1500,
});
metrics.reconciled('error', 1);
const text = await metrics.text();

/** Names of the labels of each metric. */
const labels = new Map<string, Set<string>>();
for (const [, name = '', pairs = ''] of text.matchAll(/^(hosted_control_plane_\w+)(?:\{(.*)\})? /gm)) {
  const known = labels.get(name) ?? new Set<string>();
  for (const [, label = ''] of pairs.matchAll(/(\w+)="/g)) known.add(label);
  labels.set(name, known);
}

describe('the alerts', () => {
  it.each(alerts)('read metrics and labels that the operator has: $name', ({ expression, summary }) => {
    const read = [...expression.matchAll(/(hosted_control_plane_\w+)(?:\{([^}]*)\})?/g)];
    expect(read.length).toBeGreaterThan(0);
    const grouped = [...expression.matchAll(/max by \(([^)]*)\) \((\w+)/g)].flatMap(([, by = '', name = '']) =>
      by.split(', ').map((label) => [name, label] as const),
    );
    const selected = read.flatMap(([, name = '', matchers = '']) =>
      [...matchers.matchAll(/(\w+)=~?"/g)].map(([, label = '']) => [name, label] as const),
    );
    const unknown = [...grouped, ...selected].filter(([name, label]) => !labels.get(name)?.has(label));
    expect({ missing: read.map(([, name = '']) => name).filter((name) => !labels.has(name)), unknown }).toEqual({
      missing: [],
      unknown: [],
    });
    const shown = [...summary.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label);
    const kept = new Set(grouped.map(([, label]) => label));
    expect(shown.filter((label) => !kept.has(label))).toEqual([]);
  });

  it('name conditions that the operator writes', () => {
    const named = alerts.flatMap(({ expression }) => [...expression.matchAll(/type="(\w+)"/g)].map(([, type]) => type));
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((type) => !conditionTypes.some((known) => known === type))).toEqual([]);
  });

  it('close every bracket', () => {
    for (const { name, expression } of alerts) {
      const count = (bracket: string) => expression.split(bracket).length;
      expect([name, count('('), count('{')]).toEqual([name, count(')'), count('}')]);
    }
  });

  it('each say what to do, and lead to the page that says so', () => {
    const rules = renderMonitoring().find(({ kind }) => kind === 'PrometheusRule') as unknown as {
      spec: { groups: { rules: { alert: string; annotations: { runbook: string } }[] }[] };
    };
    expect(rules.spec.groups[0]?.rules.map(({ alert, annotations }) => [alert, annotations.runbook])).toEqual(
      alerts.map(({ name }) => [name, `constructs/provider/ALERTS.md#${name.toLowerCase()}`]),
    );
    expect(alerts.filter(({ actions }) => actions.length === 0)).toEqual([]);
  });
});
