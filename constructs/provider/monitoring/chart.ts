import { ApiObject, App, Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { managerSelector, providerNamespace } from '../../cluster/provider-names.ts';
import type { RenderedObject } from '../../control-plane/chart.ts';
import { alerts } from './alerts.ts';

/** Port of the metrics in these manifests: the operator must run with it. */
export const metricsPort = 8080;

/** Page of the repository with what to do about each alert, which `npm run docs` writes. */
export const alertsPage = 'constructs/provider/ALERTS.md';

/** What Prometheus scrapes of the operator, and the alerts that it raises, as objects of the Prometheus Operator. */
class Monitoring extends Chart {
  constructor(scope: Construct, id: string) {
    super(scope, id, { disableResourceNameHashes: true, namespace: providerNamespace });
    const metadata = { name: 'hosted-control-plane' };
    new ApiObject(this, 'pods', {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PodMonitor',
      metadata,
      spec: {
        selector: { matchLabels: { ...managerSelector } },
        // The labels `namespace` and `name` are those of control planes.
        podMetricsEndpoints: [{ portNumber: metricsPort, path: '/metrics', interval: '30s', honorLabels: true }],
      },
    });
    new ApiObject(this, 'rules', {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PrometheusRule',
      metadata,
      spec: { groups: [{ name: 'hosted-control-plane', rules: alerts.map(ruleOf) }] },
    });
  }
}

function ruleOf({ name, expression, lasts, severity, summary, meaning }: (typeof alerts)[number]): object {
  return {
    alert: name,
    expr: expression,
    for: lasts,
    labels: { severity },
    annotations: { summary, description: meaning, runbook: `${alertsPage}#${name.toLowerCase()}` },
  };
}

/** Renders the monitoring of the operator. */
export function renderMonitoring(): RenderedObject[] {
  return new Monitoring(new App(), 'monitoring').toJson() as RenderedObject[];
}
