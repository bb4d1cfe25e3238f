import { expect, it } from 'vitest';
import { renderControlPlane, type RenderedObject } from '../../../constructs/control-plane/chart.ts';
import type { Facts } from '../../../constructs/cluster/facts.ts';
import { haproxyFiles } from '../../../constructs/pod/haproxy.ts';
import { renderWorkload } from '../../../constructs/workload/chart.ts';
import { clusterOf, knownFacts } from '../../support/rendered-cluster.ts';
import { workloadsOf } from '../../support/rendered-objects.ts';

/** That of Kubernetes, for pods that name none. */
const graceOfKubernetes = 30;

const gateway = { exposure: { gateway: { namespace: 'ingress', name: 'shared' } } };
const facts: Facts = {
  ...knownFacts,
  endpoint: { host: 'c1.team.example.org', port: 443 },
  tunnelEndpoint: { host: 'tunnel.c1.team.example.org', port: 443 },
};
const rendered = (['Proxy', 'Policy'] as const).flatMap((inClusterAccess): RenderedObject[] => {
  const cluster = clusterOf({ spec: { ...gateway, inClusterAccess } });
  return [...renderControlPlane(cluster, facts), ...renderWorkload(cluster, facts)];
});

/** The number of seconds that a script waits before a signal. */
function secondsBefore(signal: string, script: string): number {
  return Number(new RegExp(`sleep (\\d+)[\\n; ]+kill -${signal} `).exec(script)?.[1]);
}

it.each([
  ['tunnel of the API server', 'c1-tunnel', 'c1-api-server'],
  ['proxy on each node', 'hosted-control-plane-proxy', 'hosted-control-plane-proxy'],
  ['proxy behind the Service', 'hosted-control-plane-service-proxy', 'hosted-control-plane-service-proxy'],
])(
  'the %s closes its connections, and has five seconds left to end before the kubelet kills it',
  (_, config, workload) => {
    const files = rendered.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === config)!;
    const script = (files['data'] as Record<string, string>)[haproxyFiles.script]!;
    const stops = secondsBefore('USR1', script) + secondsBefore('TERM', script);
    const { pod } = workloadsOf(rendered).find(({ object }) => object.metadata.name === workload)!;
    expect(stops).toBeGreaterThan(0);
    expect(stops).toBeLessThanOrEqual((pod.terminationGracePeriodSeconds ?? graceOfKubernetes) - 5);
  },
);
