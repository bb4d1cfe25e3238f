import { ApiObject, App, Chart } from 'cdk8s';
import { k8s } from 'cdk8s-plus-30';
import type { Construct } from 'constructs';
import {
  managerSelector,
  metricsPath,
  metricsPortName,
  providerNamespace,
  providerNames,
  rbacGroup,
} from '../../cluster/provider-names.ts';
import type { RenderedObject } from '../../control-plane/chart.ts';
import { alerts } from './alerts.ts';

/** Page of the repository with what to do about each alert, which `npm run docs` writes. */
export const alertsPage = 'constructs/provider/ALERTS.md';

/** What Prometheus scrapes of the operator, and the alerts that it raises, as objects of the Prometheus Operator. */
class Monitoring extends Chart {
  constructor(scope: Construct, id: string, namespace: string) {
    super(scope, id, { disableResourceNameHashes: true });
    const metadata = { name: 'hosted-control-plane', namespace };
    const token = this.scraper({ name: 'hosted-control-plane-scraper', namespace });
    new ApiObject(this, 'pods', {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PodMonitor',
      metadata,
      spec: {
        selector: { matchLabels: { ...managerSelector } },
        // The labels `namespace` and `name` are those of control planes.
        podMetricsEndpoints: [
          {
            // A port without a name is not found: pods must declare it.
            port: metricsPortName,
            path: metricsPath,
            scheme: 'https',
            // Each pod has a certificate of its own, by a CA that is not kept.
            tlsConfig: { insecureSkipVerify: true },
            authorization: { type: 'Bearer', credentials: token },
            interval: '30s',
            honorLabels: true,
          },
        ],
      },
    });
    new ApiObject(this, 'rules', {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PrometheusRule',
      metadata,
      spec: { groups: [{ name: 'hosted-control-plane', rules: alerts.map(ruleOf) }] },
    });
  }

  /** An identity that may read the metrics and nothing else. Returns where the API server writes its token. */
  private scraper(metadata: { name: string; namespace: string }): { name: string; key: string } {
    const { name, namespace } = metadata;
    new k8s.KubeServiceAccount(this, 'scraper', { metadata, automountServiceAccountToken: false });
    new k8s.KubeSecret(this, 'scraper-token', {
      metadata: { ...metadata, annotations: { 'kubernetes.io/service-account.name': name } },
      type: 'kubernetes.io/service-account-token',
    });
    new k8s.KubeClusterRoleBinding(this, 'scraper-binding', {
      // Operators of several namespaces have one each.
      metadata: { name: `${name}-${namespace}` },
      roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: providerNames.metricsReaderRole },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    });
    return { name, key: 'token' };
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

/** Renders the monitoring of the operator. @param namespace that of the operator */
export function renderMonitoring(namespace: string = providerNamespace): RenderedObject[] {
  return new Monitoring(new App(), 'monitoring', namespace).toJson() as RenderedObject[];
}
